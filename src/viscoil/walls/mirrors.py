# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Images of particles in the walls beside them."""

import quadrants as qd

from viscoil.core.compute import vec3
from viscoil.neighbors.smoothing import slope_over_q, value


@qd.func
def reflections(r2: qd.f32, across: vec3, support: qd.f32, kind: qd.template()):
    """(Σ w, Σ w'/q) of the images of a point at the distance √r2 in up to three walls.

    `across` holds the squares of the ways across each wall, 0 for none. There are images in one, in two
    and in all of them.
    """
    w, slope = 0.0, 0.0
    for subset in qd.static(range(1, 8)):
        square = r2
        exists = True
        for s in qd.static(range(3)):
            if qd.static((subset >> s) & 1):
                square += across[s]
                exists = exists and across[s] > 0.0
        if exists and square < support * support:
            q = qd.sqrt(square) / support
            w += value(kind, q)
            slope += slope_over_q(kind, q)
    return w, slope
