# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Images of particles in the walls beside them.

Behind a wall there are no particles, and γ stands in for their density. But γ has no gradient along the
wall: a change of density along it, which half of the neighbours would show, is seen by those before it
alone. Between the particles of the first layer 15 % of the second moment along the wall are missing, and
with it 15 % of the force of a pressure gradient: no pressure held a fluid at rest, dp/dy was 1.18 ρ g
beside a wall and less elsewhere, and the fluid rolled for ever. Boundary particles that take the pressure
of the fluid particle (Akinci et al. 2012) lack it too.

A wall mirrors particles. What an image at √(r² + 4 h_i h_j), with heights h above the wall, adds to W of
a pair is added to that of the pair itself: a force between two particles along the line that joins them,
opposite and equal as others. With it, and with the images of a particle itself in place of γ at the start
of a step, every particle of a lattice half a spacing from the walls has its rest density, also in edges
and corners, where it has images in two walls or in all three. Within a step heights stay and γ changes:
it is γ that pushes away from walls.
"""

import quadrants as qd

from viscoil.core.compute import vec3
from viscoil.neighbors.smoothing import slope_over_q, value


@qd.func
def reflections(r2: qd.f32, count: qd.i32, across: vec3, support: qd.f32, kind: qd.template()):
    """(Σ w, Σ w'/q) of the images of a point at the distance √r2 in so many walls, up to three.

    `across` holds what each wall adds to that square, 4 h_i h_j. There are images in one, in two and in
    all of them.
    """
    w, slope = 0.0, 0.0
    for images in range(1, 1 << count):
        square = r2 + qd.select(images % 2 == 1, across[0], 0.0)
        square += qd.select(images // 2 % 2 == 1, across[1], 0.0)
        square += qd.select(images // 4 == 1, across[2], 0.0)
        if square < support * support:
            q = qd.sqrt(square) / support
            w += value(kind, q)
            slope += slope_over_q(kind, q)
    return w, slope
