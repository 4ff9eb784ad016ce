# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Which particles may touch a wall in a step, or are driven by a nozzle; the others cannot."""

import quadrants as qd

from viscoil.bodies.arrays import body_velocity, is_dynamic
from viscoil.colliders.arrays import carried, distance_and_normal
from viscoil.core.compute import Floats, Ints, Vec3s, vec3, vec4
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pair_size, spacing_of, support_of
from viscoil.neighbors.scale import Scale
from viscoil.walls.arrays import Mode, WallArrays, is_known, nozzle_of
from viscoil.walls.mirrors import height_of_image


@qd.kernel(fastcache=True)
def mark(
    n: qd.i32, scale: Scale, near: ParticleArrays, walls: WallArrays, velocity: Vec3s, marks: Ints
):
    """1 for particles that are within a support, and what they move, of a wall, or in a nozzle."""
    for i in range(n):
        x = near.position[i]
        close = nozzle_of(walls, 0.5 * spacing_of(scale, near, i), x) >= 0
        for k in range(walls.count):
            begin = carried(walls.colliders, k, scale.dt, x)
            reach = support_of(scale, near, i) + (x + scale.dt * velocity[i] - begin).norm()
            if qd.static(walls.coupled):
                slot = walls.bodies.slot[k]
                if is_dynamic(walls.bodies, slot):
                    reach += scale.dt * body_velocity(walls.bodies, slot, x).norm()
            if distance_and_normal(walls.colliders, k, begin)[3] < reach:
                close = True
        marks[i] = qd.cast(close, qd.i32)


@qd.kernel(fastcache=True)
def bound_others(n: qd.i32, scale: Scale, near: ParticleArrays, walls: WallArrays, velocity: Vec3s):
    """Bounds u of particles without a contact so that they meet no wall, whatever drives them.

    `mark` went by the velocities at the start of the step, and found these a support away from the
    walls. Forces and stresses came later, and nothing else would stop a particle that they throw.
    Positions may still move by a spacing in a projection, and half of one is where particles rest:
    that much room is kept.
    """
    for i in range(n):
        if near.contact[i] < 0:
            x = near.position[i]
            kept = 1.5 * spacing_of(scale, near, i)
            for k in range(walls.count):
                begin = carried(walls.colliders, k, scale.dt, x)
                way = x + scale.dt * velocity[i] - begin
                room = distance_and_normal(walls.colliders, k, begin)[3]
                room = qd.max(room - kept, 0.0)
                if way.norm() > room:
                    velocity[i] = (begin + room / way.norm() * way - x) / scale.dt


@qd.kernel(fastcache=True)
def collect(
    n: qd.i32,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    friction: Floats,
    offsets: Ints,
):
    """Fills the list of contacts from the offsets, which are the scanned marks."""
    for i in range(n):
        c = offsets[i]
        near.contact[i] = -1
        if offsets[i + 1] > c:
            near.contact[i] = c
            spacing = spacing_of(scale, near, i)
            nozzle = nozzle_of(walls, 0.5 * spacing, near.position[i])
            walls.contacts.particle[c] = i
            walls.contacts.spacing[c] = spacing
            walls.contacts.nozzle[c] = nozzle
            walls.contacts.mode[c] = Mode.FREE
            walls.contacts.normal[c] = vec3(0.0)
            walls.contacts.push[c] = 0.0
            walls.contacts.linked[c] = 0
            walls.contacts.link_arm[c] = vec3(0.0)
            if qd.static(walls.coupled):
                walls.contacts.link_share[c] = 0.0
                walls.contacts.press_arm[c] = vec3(0.0)
                walls.contacts.press_twist[c] = vec3(0.0)
                walls.contacts.load[c] = vec3(0.0)
                walls.contacts.load_twist[c] = vec3(0.0)
                walls.contacts.holder[c] = -1
                for b in range(walls.body_count):
                    place = c * walls.body_count + b
                    walls.contacts.impulse[place] = vec3(0.0)
                    k = walls.bodies.primitive[b]
                    if k >= 0:
                        at = distance_and_normal(walls.colliders, k, near.position[i])
                        walls.contacts.start[place] = at
            walls.contacts.friction[c] = friction[near.material[i]]
            walls.contacts.thinness[c] = 0.0


@qd.kernel(fastcache=True)
def survey(count: qd.i32, scale: Scale, near: ParticleArrays, walls: WallArrays):
    """What is between particles and the walls beside them, and which of these mirror particles."""
    for c in range(count):
        _find_shield(c, scale, near, walls)
        _find_mirrors(c, scale, near, walls)


@qd.func
def _find_shield(c: qd.i32, scale: Scale, near: ParticleArrays, walls: WallArrays):
    """A particle is shielded if it does not touch the wall and another is between them.

    That one lies within 45 degrees (cosine 0.7) of the way to the wall and nearer than 1.5 spacings, as
    nearest neighbours on a lattice and those across a face do; those across a cube (1.7) do not.
    """
    i = walls.contacts.particle[c]
    nearest = vec4(0.0, 0.0, 0.0, 1e30)
    for k in range(walls.count):
        at = distance_and_normal(walls.colliders, k, near.position[i])
        if at[3] < nearest[3]:
            nearest = at
    n = vec3(nearest[0], nearest[1], nearest[2])
    shielded = 0
    towards, layer = 0.7, 1.5
    if nearest[3] > walls.contacts.spacing[c]:
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            j = near.pairs.neighbor[k]
            x = separation(near.period, near.position[i], near.position[j])
            reach = layer * pair_size(scale, near, i, j) * scale.spacing
            if x.dot(n) > towards * x.norm() and x.norm() < reach:
                shielded = 1
    walls.contacts.shielded[c] = shielded
    walls.contacts.height[c] = nearest[3]


@qd.func
def _find_mirrors(c: qd.i32, scale: Scale, near: ParticleArrays, walls: WallArrays):
    """The walls in which the particle has images (`mirrors`): three at most, as in a corner."""
    i = walls.contacts.particle[c]
    found, body = 0, -1
    for k in range(walls.count):
        x = carried(walls.colliders, k, scale.dt, near.position[i])
        at = distance_and_normal(walls.colliders, k, x)
        if found < 3 and is_known(at) and at[3] < support_of(scale, near, i):
            walls.contacts.mirror[3 * c + found] = k
            walls.contacts.mirror_height[3 * c + found] = height_of_image(c, at[3], walls)
            walls.contacts.mirror_normal[3 * c + found] = vec3(at[0], at[1], at[2])
            found += 1
            if qd.static(walls.coupled):
                slot = walls.bodies.slot[k]
                if is_dynamic(walls.bodies, slot):
                    body = slot if body == -1 else -2
    walls.contacts.mirrors[c] = found
    if qd.static(walls.coupled):
        walls.contacts.body[c] = body
