# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Which particles may touch a wall in a step, or are driven by a nozzle; the others cannot."""

import quadrants as qd

from viscoil.bodies.arrays import body_velocity, is_dynamic
from viscoil.colliders.arrays import carried, distance_and_normal
from viscoil.core.compute import Floats, Ints, Vec3s, vec3, vec4
from viscoil.neighbors.pairs import separation
from viscoil.neighbors.resolution import pair_size, spacing_of, support_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.workspace import Fluid
from viscoil.walls.walls import Contacts, Mode, Walls, nozzle_of


@qd.kernel(fastcache=True)
def mark(
    n: qd.i32,
    coupled: qd.template(),
    scale: Scale,
    walls: Walls,
    fluid: Fluid,
    velocity: Vec3s,
    marks: Ints,
):
    for i in range(n):
        x = fluid.position[i]
        near = nozzle_of(walls, 0.5 * spacing_of(scale, fluid, i), x) >= 0
        for k in range(walls.count):
            begin = carried(walls.colliders, k, scale.dt, x)
            reach = support_of(scale, fluid, i) + (x + scale.dt * velocity[i] - begin).norm()
            if qd.static(coupled):
                slot = walls.bodies.slot[k]
                if is_dynamic(walls.bodies, slot):
                    reach += scale.dt * body_velocity(walls.bodies, slot, x).norm()
            if distance_and_normal(walls.colliders, k, begin)[3] < reach:
                near = True
        marks[i] = qd.cast(near, qd.i32)


@qd.kernel(fastcache=True)
def rein_in(n: qd.i32, scale: Scale, walls: Walls, fluid: Fluid, velocity: Vec3s):
    """Bounds u of particles without a contact so that they meet no wall, whatever drives them.

    `mark` went by the velocities at the start of the step, and found these a support away from the
    walls. Forces and stresses came later, and nothing else would stop a particle that they throw.
    Positions may still move by a spacing (`trusted`), and half of one is where particles rest.
    """
    for i in range(n):
        if fluid.wall[i] < 0:
            x = fluid.position[i]
            for k in range(walls.count):
                begin = carried(walls.colliders, k, scale.dt, x)
                way = x + scale.dt * velocity[i] - begin
                room = distance_and_normal(walls.colliders, k, begin)[3]
                room = qd.max(room - 1.5 * spacing_of(scale, fluid, i), 0.0)
                if way.norm() > room:
                    velocity[i] = (begin + room / way.norm() * way - x) / scale.dt


@qd.kernel(fastcache=True)
def collect(
    n: qd.i32,
    coupled: qd.template(),
    scale: Scale,
    walls: Walls,
    fluid: Fluid,
    friction: Floats,
    offsets: Ints,
    contacts: Contacts,
):
    """Fills the list from the offsets, which are the scanned marks."""
    for i in range(n):
        c = offsets[i]
        fluid.wall[i] = -1
        if offsets[i + 1] > c:
            fluid.wall[i] = c
            spacing = spacing_of(scale, fluid, i)
            nozzle = nozzle_of(walls, 0.5 * spacing, fluid.position[i])
            contacts.particle[c] = i
            contacts.spacing[c] = spacing
            contacts.nozzle[c] = nozzle
            contacts.mode[c] = Mode.FREE
            contacts.normal[c] = vec3(0.0)
            contacts.push[c] = 0.0
            if qd.static(coupled):
                contacts.holder[c] = -1
                for b in range(walls.body_count):
                    place = c * walls.body_count + b
                    contacts.impulse[place] = vec3(0.0)
                    k = walls.bodies.primitive[b]
                    if k >= 0:
                        at = distance_and_normal(walls.colliders, k, fluid.position[i])
                        contacts.start[place] = at
            contacts.friction[c] = friction[fluid.material[i]]


@qd.kernel(fastcache=True)
def find_shields(
    count: qd.i32,
    periodic: qd.template(),
    scale: Scale,
    walls: Walls,
    fluid: Fluid,
    contacts: Contacts,
):
    """A particle is shielded if it does not touch the wall and another is between them."""
    for c in range(count):
        i = contacts.particle[c]
        nearest = vec4(0.0, 0.0, 0.0, 1e30)
        for k in range(walls.count):
            at = distance_and_normal(walls.colliders, k, fluid.position[i])
            if at[3] < nearest[3]:
                nearest = at
        n = vec3(nearest[0], nearest[1], nearest[2])
        shielded = 0
        if nearest[3] > contacts.spacing[c]:
            for k in range(fluid.pairs.start[i], fluid.pairs.start[i + 1]):
                j = fluid.pairs.neighbor[k]
                x = separation(periodic, fluid.period, fluid.position[i], fluid.position[j])
                reach = 1.5 * pair_size(scale, fluid, i, j) * scale.spacing
                if x.dot(n) > 0.7 * x.norm() and x.norm() < reach:
                    shielded = 1
        contacts.shielded[c] = shielded
        contacts.height[c] = nearest[3]
