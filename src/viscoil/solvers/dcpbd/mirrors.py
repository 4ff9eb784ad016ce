# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Walls mirror what is beside them."""

import quadrants as qd

from viscoil.neighbors.arrays import ParticleArrays
from viscoil.core.compute import vec3
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pair_size, volume_of, weight_share
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.walls.arrays import WallArrays
from viscoil.walls.mirrors import reflections


@qd.func
def images(
    r: qd.f32,
    support: qd.f32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    i: qd.i32,
    j: qd.i32,
):
    """(Σ w, Σ w'/q) of the images of j in the walls that i and j share, at the distance r from i."""
    w, slope = 0.0, 0.0
    ci, cj = near.contact[i], near.contact[j]
    if ci >= 0 and cj >= 0:
        across = vec3(0.0)  # squares of the ways to the images
        for s in qd.static(range(3)):
            k = walls.contacts.mirror[3 * ci + s]
            for t in range(3):
                if k >= 0 and walls.contacts.mirror[3 * cj + t] == k:
                    h = walls.contacts.mirror_height[3 * ci + s]
                    h += walls.contacts.mirror_height[3 * cj + t]
                    across[s] = h * h
        w, slope = reflections(r * r, across, support, scale.kind)
    return w, slope


@qd.func
def mirror_offset(near: ParticleArrays, walls: WallArrays, i: qd.i32) -> qd.f32:
    """What the own images of particle i add to its density, less γ at x⁰."""
    offset = 0.0
    if near.contact[i] >= 0:
        offset = walls.contacts.mirror_offset[near.contact[i]]
    return offset


@qd.func
def mirrored_weight(
    x: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32, j: qd.i32
) -> qd.f32:
    """What images add to the weight g_ij of a pair."""
    unit = scale.volume * scale.volume * scale.gradient_scale * weight_share(scale, near, i, j)
    support = pair_size(scale, near, i, j) * scale.support
    _w, slope = images(x.norm(), support, scale, near, walls, i, j)
    return unit * slope


@qd.func
def mirrored_squeeze(
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    field: qd.template(),
    i: qd.i32,
) -> qd.f32:
    """What images add to −Σ_j V_j ∇W_ij·(f_j − f_i) of a pressed particle."""
    total = 0.0
    if stencil.pressed[i] > 0.0 and near.contact[i] >= 0:
        for k in range(near.pairs.start[i], stencil.weighted_end[i]):
            j = near.pairs.neighbor[k]
            if near.contact[j] >= 0:
                x = separation(near.period, near.position[i], near.position[j])
                g = mirrored_weight(x, scale, near, walls, i, j)
                total -= g * (field[j] - field[i]).dot(x)
    return total / volume_of(scale, near, i)


@qd.func
def mirrored_push(
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
    i: qd.i32,
) -> vec3:
    """What images add to the force of the pressures p that act in `stress_force`."""
    force = vec3(0.0)
    if near.contact[i] >= 0:
        own = qd.sqrt(stencil.pressed[i]) * unknowns.pressure_direction[i]
        for k in range(near.pairs.start[i], stencil.weighted_end[i]):
            j = near.pairs.neighbor[k]
            if near.contact[j] >= 0:
                other = qd.sqrt(stencil.pressed[j]) * unknowns.pressure_direction[j]
                x = separation(near.period, near.position[i], near.position[j])
                force -= (own + other) * mirrored_weight(x, scale, near, walls, i, j) * x
    return force
