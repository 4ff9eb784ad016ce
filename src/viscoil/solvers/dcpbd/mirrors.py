# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What images in walls (`walls.mirrors`) add to densities, their rates and the forces of pressures."""

import quadrants as qd

from viscoil.core.compute import Vec3s, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import (
    pair_size,
    slope_share,
    support_of,
    value_share,
    volume_of,
    weight_share,
)
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.walls.arrays import WallArrays
from viscoil.walls.mirrors import reflections


@qd.func
def is_mirrored(scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32):
    """Whether particle i is so near to a wall that it and its neighbours may see images.

    Where others rest half a spacing from the wall, those are a support away from what is higher.
    """
    found = False
    c = near.contact[i]
    if c >= 0:
        reach = support_of(scale, near, i) - 0.45 * walls.contacts.spacing[c]
        found = walls.contacts.height[c] < reach
    return found


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
    """(Σ w, Σ w'/q) of the images of j in walls that it shares with i, at the distance r from i.

    Of particles that are mirrored.
    """
    w, slope = 0.0, 0.0
    ci, cj = near.contact[i], near.contact[j]
    nearest = 4.0 * walls.contacts.height[ci] * walls.contacts.height[cj]
    if r * r + nearest < support * support:
        across = vec3(0.0)
        found = 0
        for s in range(walls.contacts.mirrors[ci]):
            k = walls.contacts.mirror[3 * ci + s]
            for t in range(walls.contacts.mirrors[cj]):
                if walls.contacts.mirror[3 * cj + t] == k:
                    hi = walls.contacts.mirror_height[3 * ci + s]
                    hj = walls.contacts.mirror_height[3 * cj + t]
                    across = vec3(4.0 * hi * hj, across[0], across[1])
                    found += 1
        w, slope = reflections(r * r, found, across, support, scale.kind)
    return w, slope


@qd.func
def mirrored_density(
    place: Vec3s, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32
) -> qd.f32:
    """What images of others add to Σ_j w_ij with particles at their `place`."""
    total = 0.0
    if is_mirrored(scale, near, walls, i):
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            if is_mirrored(scale, near, walls, j):
                r = separation(near.period, place[i], place[j]).norm()
                support = pair_size(scale, near, i, j) * scale.support
                w, _slope = images(r, support, scale, near, walls, i, j)
                total += value_share(scale, near, i, j) * w
    return total


@qd.func
def mirrored_slope(
    x: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32, j: qd.i32
) -> qd.f32:
    """What images add to `compression.slope_between`, of particles that are mirrored."""
    support = pair_size(scale, near, i, j) * scale.support
    _w, slope = images(x.norm(), support, scale, near, walls, i, j)
    return slope * slope_share(scale, near, i, j)


@qd.func
def mirror_offset(near: ParticleArrays, walls: WallArrays, i: qd.i32) -> qd.f32:
    """What the own images of particle i add to its density, less Γ at x⁰."""
    offset = 0.0
    if near.contact[i] >= 0:
        offset = walls.contacts.mirror_offset[near.contact[i]]
    return offset


@qd.func
def mirrored_weight(
    x: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32, j: qd.i32
) -> qd.f32:
    """What images add to the weight g_ij of a pair of one body."""
    unit = scale.volume * scale.volume * scale.gradient_scale * weight_share(scale, near, i, j)
    support = pair_size(scale, near, i, j) * scale.support
    g = 0.0
    together = not apart(scale, near, i, j)
    if together and is_mirrored(scale, near, walls, i) and is_mirrored(scale, near, walls, j):
        _w, slope = images(x.norm(), support, scale, near, walls, i, j)
        g = unit * slope
    return g


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
    if stencil.pressed[i] > 0.0 and is_mirrored(scale, near, walls, i):
        for k in range(near.pairs.start[i], stencil.weighted_end[i]):
            j = near.pairs.neighbor[k]
            if is_mirrored(scale, near, walls, j):
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
    if is_mirrored(scale, near, walls, i):
        own = qd.sqrt(stencil.pressed[i]) * unknowns.pressure_direction[i]
        for k in range(near.pairs.start[i], stencil.weighted_end[i]):
            j = near.pairs.neighbor[k]
            if is_mirrored(scale, near, walls, j):
                other = qd.sqrt(stencil.pressed[j]) * unknowns.pressure_direction[j]
                x = separation(near.period, near.position[i], near.position[j])
                force -= (own + other) * mirrored_weight(x, scale, near, walls, i, j) * x
    return force
