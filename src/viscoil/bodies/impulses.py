# mypy: disable-error-code="valid-type,index,no-untyped-def,no-untyped-call,misc,untyped-decorator"
# mypy: disable-error-code="attr-defined,no-any-return"
"""Rigid contact by sequential impulses, in double precision (Guendelman, Bridson and Fedkiw 2003;
accumulated and clamped as in Catto 2005).

Contacts are visited in turn and each gets the impulse that makes its two points part at the speed
asked for, within Coulomb's cone; what has been given so far may be taken back. Overlap is undone by
velocities of their own that last for one step, so that it never becomes momentum.
"""

import dataclasses

import quadrants as qd

from viscoil.bodies.arrays import Double3s, Double3x3s, double3
from viscoil.core.compute import Doubles, Ints


@dataclasses.dataclass
class RigidArrays:
    """One entry per collider; those that forces do not move have no inverse mass."""

    inverse_mass: Doubles  # 1/kg
    inverse_inertia: Double3x3s  # 1/(kg m²)
    center: Double3s  # m
    velocity: Double3s  # m/s
    angular_velocity: Double3s  # rad/s
    push: Double3s  # m/s: velocity that undoes overlap and is forgotten after the step
    push_turn: Double3s  # rad/s


@dataclasses.dataclass
class ContactArrays:
    """One entry per contact."""

    first: Ints
    second: Ints
    point: Double3s  # m
    normal: Double3s  # out of the second
    parting_speed: Doubles  # m/s: least normal speed after the step (negative: approach)
    recovery_speed: Doubles  # m/s: at which overlap is undone
    friction: Doubles
    normal_impulse: Doubles  # N s so far
    friction_impulse: Double3s  # N s so far, along the surface
    push_impulse: Doubles  # kg m/s so far, of the velocities that undo overlap


@qd.func
def _mobility(bodies: RigidArrays, k: qd.i32, r: double3, n: double3) -> qd.f64:
    """Speed along n that the point at r gains per impulse along n, 1/kg."""
    lever = r.cross(n)
    return bodies.inverse_mass[k] + lever.dot(bodies.inverse_inertia[k] @ lever)


@qd.func
def _apply_impulse(bodies: RigidArrays, k: qd.i32, r: double3, impulse: double3):
    bodies.velocity[k] = bodies.velocity[k] + bodies.inverse_mass[k] * impulse
    turn = bodies.inverse_inertia[k] @ r.cross(impulse)
    bodies.angular_velocity[k] = bodies.angular_velocity[k] + turn


@qd.func
def _apply_push(bodies: RigidArrays, k: qd.i32, r: double3, impulse: double3):
    bodies.push[k] = bodies.push[k] + bodies.inverse_mass[k] * impulse
    bodies.push_turn[k] = bodies.push_turn[k] + bodies.inverse_inertia[k] @ r.cross(impulse)


@qd.func
def _slip(bodies: RigidArrays, a: qd.i32, b: qd.i32, ra: double3, rb: double3) -> double3:
    """Velocity of a's point against b's, m/s."""
    va = bodies.velocity[a] + bodies.angular_velocity[a].cross(ra)
    return va - bodies.velocity[b] - bodies.angular_velocity[b].cross(rb)


@qd.func
def _resolve_contact(c: qd.i32, bodies: RigidArrays, contacts: ContactArrays):
    a, b = contacts.first[c], contacts.second[c]
    n = contacts.normal[c]
    ra = contacts.point[c] - bodies.center[a]
    rb = contacts.point[c] - bodies.center[b]
    mobility = _mobility(bodies, a, ra, n) + _mobility(bodies, b, rb, n)
    speed = _slip(bodies, a, b, ra, rb).dot(n)
    before = contacts.normal_impulse[c]
    contacts.normal_impulse[c] = qd.max(
        before + (contacts.parting_speed[c] - speed) / mobility, qd.f64(0.0)
    )
    impulse = (contacts.normal_impulse[c] - before) * n
    _apply_impulse(bodies, a, ra, impulse)
    _apply_impulse(bodies, b, rb, -impulse)

    slip = _slip(bodies, a, b, ra, rb)
    slip -= slip.dot(n) * n
    size = slip.norm()
    if size > 0.0:
        t = slip / size
        grip = contacts.friction_impulse[c] - slip / (
            _mobility(bodies, a, ra, t) + _mobility(bodies, b, rb, t)
        )
        grip *= qd.min(
            qd.f64(1.0), contacts.friction[c] * contacts.normal_impulse[c] / (grip.norm() + 1e-300)
        )
        impulse = grip - contacts.friction_impulse[c]
        contacts.friction_impulse[c] = grip
        _apply_impulse(bodies, a, ra, impulse)
        _apply_impulse(bodies, b, rb, -impulse)

    if contacts.recovery_speed[c] > 0.0:
        va = bodies.push[a] + bodies.push_turn[a].cross(ra)
        away = (va - bodies.push[b] - bodies.push_turn[b].cross(rb)).dot(n)
        before = contacts.push_impulse[c]
        contacts.push_impulse[c] = qd.max(
            before + (contacts.recovery_speed[c] - away) / mobility, qd.f64(0.0)
        )
        impulse = (contacts.push_impulse[c] - before) * n
        _apply_push(bodies, a, ra, impulse)
        _apply_push(bodies, b, rb, -impulse)


@qd.kernel(fastcache=True)
def resolve(count: qd.i32, iterations: qd.i32, bodies: RigidArrays, contacts: ContactArrays):
    """Gauss-Seidel over all contacts; starts from the impulses in `contacts`."""
    qd.loop_config(serialize=True)
    for _ in range(1):
        for _iteration in range(iterations):
            for c in range(count):
                _resolve_contact(c, bodies, contacts)
