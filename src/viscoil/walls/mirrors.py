# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Images of particles in the walls beside them.

Behind a wall there are no particles. A share of the smoothing function that is said to lie there, γ,
makes up for their density, but neither for what they do along the wall nor for all of their push. Its
gradient along the wall is none: in the first layer 15 % of the second moment along it were missing, and
with it 15 % of the force of a pressure gradient, so that no pressure held a fluid at rest.
Away from the wall it pushes half as much as particles would, which push with their own pressures too:
the rest was borne by contact, which held the first layer where it was, also in a flow that would thin it
out. Boundary particles that take the pressure of the fluid particle (Akinci et al. 2012) have the first
defect too.

So a wall mirrors particles. The image of j is at the distance √(r² + 4 h_i h_j) from i, with heights h
above the wall, and W of it is part of the density of i: that depends on both places as a density does,
and forces follow from it, (p_i + p_j) along the way from the image. What the two give each other along
the wall is opposite; what is along its normal the wall bears. A particle has images of itself, and in
edges and corners there are images in two walls and in all three. Every particle of a lattice half a
spacing from its walls is then exactly full, and exactly held.
"""

import quadrants as qd

from viscoil.colliders.arrays import distance_and_normal
from viscoil.core.compute import vec3
from viscoil.neighbors.smoothing import slope_over_q, value
from viscoil.walls.arrays import WallArrays, is_known


@qd.func
def height_of_image(c: qd.i32, distance: qd.f32, walls: WallArrays) -> qd.f32:
    """How far an image is behind a wall: as far as its particle is before it, d/10 at least."""
    return qd.max(distance, 0.1 * walls.contacts.spacing[c])


@qd.func
def follow(c: qd.i32, y: vec3, walls: WallArrays):
    """Images of the particle with contact c move as it moves to y, with walls where the step ends."""
    for s in range(walls.contacts.mirrors[c]):
        at = distance_and_normal(walls.colliders, walls.contacts.mirror[3 * c + s], y)
        if is_known(at):
            walls.contacts.mirror_height[3 * c + s] = height_of_image(c, at[3], walls)


@qd.func
def shared_heights(ci: qd.i32, cj: qd.i32, walls: WallArrays):
    """Heights of i and of j above each wall of i; -1 and 0 above one that does not mirror j."""
    own, other = vec3(-1.0), vec3(0.0)
    for s in qd.static(range(3)):
        if s < walls.contacts.mirrors[ci]:
            k = walls.contacts.mirror[3 * ci + s]
            for t in range(walls.contacts.mirrors[cj]):
                if walls.contacts.mirror[3 * cj + t] == k:
                    own[s] = walls.contacts.mirror_height[3 * ci + s]
                    other[s] = walls.contacts.mirror_height[3 * cj + t]
    return own, other


@qd.func
def reflections(
    r: qd.f32, own: vec3, other: vec3, count: qd.i32, support: qd.f32, kind: qd.template()
):
    """(Σ w, Σ w'/q, the latter over the images in each of `count` walls) of a point at the distance r.

    There are images in one, in two and in all of the walls that both are above.
    """
    w, slope = 0.0, 0.0
    through = vec3(0.0)
    for image in range(1, 1 << count):
        square = r * r
        known = True
        for s in qd.static(range(3)):
            if (image >> s) % 2 == 1:
                known = known and own[s] >= 0.0
                square += 4.0 * own[s] * other[s]
        if known and square < support * support:
            q = qd.sqrt(square) / support
            steep = slope_over_q(kind, q)
            w += value(kind, q)
            slope += steep
            for s in qd.static(range(3)):
                if (image >> s) % 2 == 1:
                    through[s] += steep
    return w, slope, through
