# mypy: disable-error-code="valid-type,index,no-untyped-def,no-untyped-call,misc"
"""Bodies that move in the same solve as the fluid that clings to them and presses on them.

Stress may hold a particle to the surface of a body (`solvers.dcpbd.no_slip`), at the point y that is
nearest to it and moves with V + ω × (y − X). And images of particles in a body move with it, so that its
motion presses them: a velocity of the body is part of dC/dt as −(a·V + t·ω). What stress and pressure
give to particles in return, the body gets back through the same points and vectors: force and velocity
are adjoint, and the operator of a solve stays symmetric. A body that turns together with the fluid
strains nothing. A particle has one such body; beside two it is not pressed.
"""

import quadrants as qd

from viscoil.bodies.arrays import arm, body_velocity
from viscoil.core.compute import Vec3s, vec3
from viscoil.walls.arrays import WallArrays


@qd.func
def linked_velocity(c: qd.i32, walls: WallArrays) -> vec3:
    """Of the surfaces that the particle with contact c is linked to, m/s."""
    v = walls.contacts.link_velocity[c]
    if qd.static(walls.coupled):
        b = walls.contacts.body[c]
        if b >= 0:
            y = walls.contacts.link_point[c]
            v += walls.contacts.link_share[c] * body_velocity(walls.bodies, b, y)
    return v


@qd.func
def linked_change(c: qd.i32, walls: WallArrays) -> vec3:
    """How much that changes with the response of the body, m/s."""
    change = vec3(0.0)
    if qd.static(walls.coupled):
        b = walls.contacts.body[c]
        if b >= 0:
            r = arm(walls.bodies, b, walls.contacts.link_point[c])
            along = walls.bodies.response[b] + walls.bodies.response_twist[b].cross(r)
            change = walls.contacts.link_share[c] * qd.cast(along, qd.f32)
    return change


@qd.func
def squeezed_by_body(c: qd.i32, changed: qd.template(), walls: WallArrays) -> qd.f32:
    """What the velocity of the body, or its response, adds to dC/dt of contact c, 1/s."""
    rate = 0.0
    if qd.static(walls.coupled):
        if c >= 0:
            b = walls.contacts.body[c]
            if b >= 0:
                v, w = walls.bodies.velocity[b], walls.bodies.angular_velocity[b]
                if qd.static(changed):
                    v, w = walls.bodies.response[b], walls.bodies.response_twist[b]
                rate -= walls.contacts.press_arm[c].dot(qd.cast(v, qd.f32))
                rate -= walls.contacts.press_twist[c].dot(qd.cast(w, qd.f32))
    return rate


@qd.func
def body_load(c: qd.i32, pulled: vec3, pressed: qd.f32, walls: WallArrays):
    """(impulse, moment) that the body gets from the particle with contact c, N s and N m s.

    Its links are `pulled` (N s given to the particle), and it is `pressed` by V p Δt (m³ Pa s).
    """
    b = walls.contacts.body[c]
    back = -walls.contacts.link_share[c] * pulled
    r = qd.cast(arm(walls.bodies, b, walls.contacts.link_point[c]), qd.f32)
    impulse = back + pressed * walls.contacts.press_arm[c]
    return impulse, r.cross(back) + pressed * walls.contacts.press_twist[c]


@qd.func
def add_loads(b: qd.i32, share: qd.f32, loads: Vec3s, twists: Vec3s, walls: WallArrays):
    """contact_impulse of body b += a share of the loads that particles put on it."""
    for c in range(walls.contacts.count):
        if walls.contacts.body[c] == b:
            impulse, twist = qd.cast(share * loads[c], qd.f64), qd.cast(share * twists[c], qd.f64)
            walls.bodies.contact_impulse[b] = walls.bodies.contact_impulse[b] + impulse
            walls.bodies.contact_twist[b] = walls.bodies.contact_twist[b] + twist
