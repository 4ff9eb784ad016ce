# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""What images in walls (`walls.mirrors`) add to densities, their rates and the forces of pressures.

W of the image of j at i has the gradient W'/ρ (x_ij + Σ 2 h_j n) with regard to x_i and
W'/ρ (−x_ij + Σ 2 h_i n) with regard to x_j, over the walls of normals n in which it is an image. That of
i itself has 2 W'/ρ Σ 2 h_i n.
"""

import quadrants as qd

from viscoil.bodies.arrays import arm
from viscoil.colliders.arrays import surface_velocity
from viscoil.core.compute import Floats, Vec3s, vec3
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
from viscoil.solvers.dcpbd.arrays import Stencil
from viscoil.walls.arrays import WallArrays, note_impulse
from viscoil.walls.mirrors import reflections, shared_heights


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
def images(r: qd.f32, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32, j: qd.i32):
    """(Σ w, Σ w'/q, Σ w'/q 2 h_j in each wall of i) of the images of j, at the distance r from i.

    Of particles that are mirrored.
    """
    ci = near.contact[i]
    own, other = shared_heights(ci, near.contact[j], walls)
    support = pair_size(scale, near, i, j) * scale.support
    count = walls.contacts.mirrors[ci]
    w, slope, through = reflections(r, own, other, count, support, scale.kind)
    return w, slope, 2.0 * through * other


@qd.func
def along_normals(lengths: vec3, near: ParticleArrays, walls: WallArrays, i: qd.i32) -> vec3:
    """Σ l n over the walls that mirror particle i."""
    c = near.contact[i]
    total = vec3(0.0)
    if c >= 0:
        for s in qd.static(range(3)):
            if s < walls.contacts.mirrors[c]:
                total += lengths[s] * walls.contacts.mirror_normal[3 * c + s]
    return total


@qd.func
def mirrored_density(
    place: Vec3s, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32
) -> qd.f32:
    """What images, its own among them, add to Σ_j w_ij with particles at their `place`."""
    total = 0.0
    if is_mirrored(scale, near, walls, i):
        own, _slope, _lengths = images(0.0, scale, near, walls, i, i)
        total += value_share(scale, near, i, i) * own
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            if is_mirrored(scale, near, walls, j):
                r = separation(near.period, place[i], place[j]).norm()
                w, _slope, _lengths = images(r, scale, near, walls, i, j)
                total += value_share(scale, near, i, j) * w
    return total


@qd.func
def mirrored_slopes(
    r: qd.f32, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32, j: qd.i32
):
    """(s, l): ∇W of the images of j at i is s x_ij + Σ l n, in units of `scale.gradient_scale`.

    Of particles that are mirrored; l of its own images counts both of its pressures.
    """
    _w, slope, lengths = images(r, scale, near, walls, i, j)
    share = slope_share(scale, near, i, j)
    return share * slope, share * lengths


@qd.func
def note_push(push: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32) -> vec3:
    """Σ q n of the pushes q of walls on particle i, Pa/m; tracked walls get the opposite of Δt² V q n."""
    if qd.static(walls.coupled):
        c = near.contact[i]
        unit = scale.dt * scale.dt * volume_of(scale, near, i)
        for s in qd.static(range(3)):
            if s < walls.contacts.mirrors[c]:
                slot = walls.bodies.slot[walls.contacts.mirror[3 * c + s]]
                n = walls.contacts.mirror_normal[3 * c + s]
                note_impulse(c, slot, walls, unit * push[s] * n)
    return along_normals(push, near, walls, i)


@qd.func
def pushes_of(
    pressure: Floats,
    before: Floats,
    share: Floats,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    i: qd.i32,
) -> vec3:
    """What each wall pushes particle i with at x⁰ as pressures rise, those of some `share`, Pa/m."""
    own = 0.0
    if share[i] > 0.0:
        own = pressure[i] - before[i]
    total = 2.0 * own * mirrored_slopes(0.0, scale, near, walls, i, i)[1]
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        if is_mirrored(scale, near, walls, j):
            both = own
            if share[j] > 0.0:
                both += pressure[j] - before[j]
            r = separation(near.period, near.position[i], near.position[j]).norm()
            total += both * mirrored_slopes(r, scale, near, walls, i, j)[1]
    return -scale.volume * scale.gradient_scale * total


@qd.func
def mirrored_weights(
    x: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32, j: qd.i32
):
    """(g, l): what images of j add to V_i V_j ∇W of a pair of one body is g x_ij + Σ l n."""
    unit = scale.volume * scale.volume * scale.gradient_scale * weight_share(scale, near, i, j)
    g = 0.0
    lengths = vec3(0.0)
    counted = is_mirrored(scale, near, walls, i) and is_mirrored(scale, near, walls, j)
    counted = counted and not apart(scale, near, i, j)
    if counted:
        _w, slope, through = images(x.norm(), scale, near, walls, i, j)
        g = unit * slope
        lengths = unit * through
    return g, lengths


@qd.func
def prepare_wall_row(
    scale: Scale, near: ParticleArrays, walls: WallArrays, stencil: Stencil, i: qd.i32
):
    """wall_slope ← Σ l n over the images of others and, twice, of i itself, over V; how walls move."""
    if is_mirrored(scale, near, walls, i):
        _g, lengths = mirrored_weights(vec3(0.0), scale, near, walls, i, i)
        lengths *= 2.0
        moved = lengths
        volume = volume_of(scale, near, i)
        for k in range(near.pairs.start[i], stencil.weighted_end[i]):
            j = near.pairs.neighbor[k]
            x = separation(near.period, near.position[i], near.position[j])
            _g, away = mirrored_weights(x, scale, near, walls, i, j)
            _g, back = mirrored_weights(-x, scale, near, walls, j, i)
            lengths += away
            moved += away + along_walls(back, near, walls, j, i)
            _press_body(near.contact[i], j, back / volume, near, walls)
        _press_body(near.contact[i], i, lengths / volume, near, walls)
        stencil.wall_slope[i] = along_normals(lengths, near, walls, i) / volume
        c = near.contact[i]
        for s in qd.static(range(3)):
            if s < walls.contacts.mirrors[c]:
                k = walls.contacts.mirror[3 * c + s]
                if not _is_body(c, k, walls):
                    v = surface_velocity(walls.colliders, k, near.position[i])
                    speed = v.dot(walls.contacts.mirror_normal[3 * c + s])
                    stencil.pressed_offset[i] -= 2.0 * scale.dt * moved[s] / volume * speed


@qd.func
def _is_body(c: qd.i32, k: qd.i32, walls: WallArrays):
    """Whether collider k is the body that moves in the same solve as the particle with contact c."""
    found = False
    if qd.static(walls.coupled):
        b = walls.contacts.body[c]
        found = b >= 0 and walls.bodies.slot[k] == b
    return found


@qd.func
def _press_body(c: qd.i32, j: qd.i32, lengths: vec3, near: ParticleArrays, walls: WallArrays):
    """Adds the slopes l n of images at particle j to those by which p of contact c presses its body."""
    if qd.static(walls.coupled):
        cj = near.contact[j]
        if walls.contacts.body[c] >= 0 and cj >= 0:
            for s in qd.static(range(3)):
                if s < walls.contacts.mirrors[cj]:
                    if _is_body(c, walls.contacts.mirror[3 * cj + s], walls):
                        push = lengths[s] * walls.contacts.mirror_normal[3 * cj + s]
                        r = arm(walls.bodies, walls.contacts.body[c], near.position[j])
                        twist = qd.cast(r, qd.f32).cross(push)
                        walls.contacts.press_arm[c] = walls.contacts.press_arm[c] + push
                        walls.contacts.press_twist[c] = walls.contacts.press_twist[c] + twist


@qd.func
def along_walls(
    lengths: vec3, near: ParticleArrays, walls: WallArrays, j: qd.i32, i: qd.i32
) -> vec3:
    """Lengths along the walls of j in the order of those of i."""
    cj, ci = near.contact[j], near.contact[i]
    sorted_lengths = vec3(0.0)
    if cj >= 0 and ci >= 0:
        for s in qd.static(range(3)):
            for t in qd.static(range(3)):
                both = s < walls.contacts.mirrors[ci] and t < walls.contacts.mirrors[cj]
                if both:
                    if walls.contacts.mirror[3 * ci + s] == walls.contacts.mirror[3 * cj + t]:
                        sorted_lengths[s] = lengths[t]
    return sorted_lengths


@qd.func
def mirrored_squeeze(
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    field: qd.template(),
    i: qd.i32,
) -> qd.f32:
    """What images add to the rate of C of a pressed particle, but for `wall_slope`·f_i."""
    total = 0.0
    if stencil.pressed[i] > 0.0 and is_mirrored(scale, near, walls, i):
        for k in range(near.pairs.start[i], stencil.weighted_end[i]):
            j = near.pairs.neighbor[k]
            if is_mirrored(scale, near, walls, j):
                x = separation(near.period, near.position[i], near.position[j])
                g, lengths = mirrored_weights(-x, scale, near, walls, j, i)
                total += (g * (field[i] - field[j])).dot(x)
                total += along_normals(lengths, near, walls, j).dot(field[j])
    return total / volume_of(scale, near, i)


@qd.func
def mirrored_push(
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    pressure: Floats,
    i: qd.i32,
) -> vec3:
    """What images add to the force of the pressures √w p, but for that of p_i on `wall_slope`."""
    force = vec3(0.0)
    if is_mirrored(scale, near, walls, i):
        own = qd.sqrt(stencil.pressed[i]) * pressure[i]
        for k in range(near.pairs.start[i], stencil.weighted_end[i]):
            j = near.pairs.neighbor[k]
            if is_mirrored(scale, near, walls, j):
                other = qd.sqrt(stencil.pressed[j]) * pressure[j]
                x = separation(near.period, near.position[i], near.position[j])
                g, lengths = mirrored_weights(x, scale, near, walls, i, j)
                force -= (own + other) * g * x
                force -= other * along_normals(lengths, near, walls, i)
    return force
