# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What the size of a particle changes: the one place that knows about scenes of mixed resolution.

A particle of size s (its spacing in units of the scene's) has the spacing s d, the support s h and the
volume s³ V. Two of them see each other with the smoothing function of the mean support,
h_ij = (h_i + h_j)/2, so that what i does to j is opposite to what j does to i (DYVERSO, section 3.1,
keeps masses in the constraint; one support per pair is ours).

Where `scale.mixed` is false all sizes are 1, no size is read, and kernels are compiled as if there
were none.

The density of i counts neighbour j as (s_j/s_ij)² w(r/h_ij). With the volume of j it would be
(s_j/s_ij)³ w; the difference is d_ij/d_j. Next to a layer of particles of another size it is the right
thing: the layer holds d_j of volume per area, but stands, at the distance d_ij, for what a layer of
particles of the mean size would. The first layers of lattices of sizes up to 1:3, (d_i + d_j)/2 apart,
then have their rest density to 1.3 % in the mean (a fine particle above a coarse lattice may be off by
3 % at 1:3, as it stands); without it they miss it by 7 %.
"""

import quadrants as qd

from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.scale import Scale


@qd.func
def size_of(scale: Scale, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """s_i."""
    size = 1.0
    if qd.static(scale.mixed):
        size = near.size[i]
    return size


@qd.func
def spacing_of(scale: Scale, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """d_i, m."""
    return size_of(scale, near, i) * scale.spacing


@qd.func
def support_of(scale: Scale, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """h_i, m."""
    return size_of(scale, near, i) * scale.support


@qd.func
def volume_of(scale: Scale, near: ParticleArrays, i: qd.i32) -> qd.f32:
    """V_i, m³."""
    size = size_of(scale, near, i)
    return size * size * size * scale.volume


@qd.func
def pair_size(scale: Scale, near: ParticleArrays, i: qd.i32, j: qd.i32) -> qd.f32:
    """s_ij = (s_i + s_j)/2: pairs have the spacing s_ij d and the support s_ij h."""
    size = 1.0
    if qd.static(scale.mixed):
        size = 0.5 * (near.size[i] + near.size[j])
    return size


@qd.func
def value_share(scale: Scale, near: ParticleArrays, i: qd.i32, j: qd.i32) -> qd.f32:
    """(s_j/s_ij)²: what w(q) of the pair adds to the density of i, in units of V · value_scale."""
    share = 1.0
    if qd.static(scale.mixed):
        s = near.size[j] / pair_size(scale, near, i, j)
        share = s * s
    return share


@qd.func
def slope_share(scale: Scale, near: ParticleArrays, i: qd.i32, j: qd.i32) -> qd.f32:
    """s_j²/s_ij⁴: the same for its gradient w'(q)/q · x, in units of V · gradient_scale."""
    share = 1.0
    if qd.static(scale.mixed):
        s = pair_size(scale, near, i, j)
        share = value_share(scale, near, i, j) / (s * s)
    return share


@qd.func
def pressure_ratio(scale: Scale, near: ParticleArrays, i: qd.i32, j: qd.i32) -> qd.f32:
    """How the pressure of j counts beside that of i in f_i/V_i: V_j slope_share_ji/(V_i slope_share_ij).

    It makes forces pairwise opposite although densities count neighbours unevenly: s_j/s_i.
    """
    ratio = 1.0
    if qd.static(scale.mixed):
        ratio = near.size[j] / near.size[i]
    return ratio


@qd.func
def weight_share(scale: Scale, near: ParticleArrays, i: qd.i32, j: qd.i32) -> qd.f32:
    """s_i³ s_j³/s_ij⁵: what a weight V_i V_j W'(r)/r is in units of V² · gradient_scale · w'(q)/q."""
    share = 1.0
    if qd.static(scale.mixed):
        s = pair_size(scale, near, i, j)
        both = near.size[i] * near.size[j] / (s * s)
        share = both * both * both * s
    return share
