# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Separate bodies: which pairs of particles only collide.

Where `scale.parted` is false there are none, no number is read, and kernels are compiled as if there
were no such thing.
"""

import quadrants as qd

from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale


@qd.func
def apart(scale: Scale, near: ParticleArrays, i: qd.i32, j: qd.i32):
    """Whether i and j belong to two separate bodies, so that nothing holds them together."""
    found = False
    if qd.static(scale.parted):
        own, other = near.body[i], near.body[j]
        found = own > 0 and other > 0 and own != other
    return found
