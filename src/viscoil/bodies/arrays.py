# mypy: disable-error-code="valid-type,index,no-untyped-def,no-untyped-call,misc,untyped-decorator"
"""Bodies as kernels see them: what a step starts from, and how impulses move them.

A tracked collider has a slot here: every dynamic one, and fixed or keyframed ones whose forces are
reported. The latter have no inverse mass, so nothing moves them, but their impulses are summed too.
"""

import dataclasses

import quadrants as qd

from viscoil.colliders.arrays import ColliderArrays
from viscoil.core.compute import Doubles, Floats, Ints, scalars, vec3

double3 = qd.types.vector(3, qd.f64)
double4 = qd.types.vector(4, qd.f64)
double3x3 = qd.types.matrix(3, 3, qd.f64)
Double3s = qd.types.NDArray[double3, 1]
Double4s = qd.types.NDArray[double4, 1]
Double3x3s = qd.types.NDArray[double3x3, 1]


@dataclasses.dataclass
class BodyArrays:
    """One entry per slot, but for `slot`; world axes, SI units."""

    slot: Ints  # of each primitive; -1 if it is not tracked
    primitive: Ints  # of a dynamic body; -1: it is not moved by forces
    inverse_mass: Doubles  # 1/kg
    inertia: Double3x3s  # I, kg m², halfway through the step
    inverse_inertia: Double3x3s
    center: Double3s  # X⁰, m: centre of mass (of fixed ones the reference point)
    offset: Double3s  # m: the reference point seen from the centre of mass, body axes
    orientation: Double4s  # q⁰
    velocity: Double3s  # V, m/s: over the step, as it is so far
    angular_velocity: Double3s  # ω, rad/s
    velocity_before: Double3s  # m/s: V before an iteration
    angular_velocity_before: Double3s  # rad/s
    free_velocity: Double3s  # V*, m/s: without contacts
    free_angular_velocity: Double3s  # ω*, rad/s
    impulse: Double3s  # N s: what fluid gave to a slot that is not moved by it
    twist: Double3s  # N m s: its moment about the centre
    pressed_impulse: Double3s  # N s: the part of it that recalled pressures gave
    pressed_twist: Double3s  # N m s
    contact_impulse: Double3s  # what contacts give to the body, in the unit of what they noted
    contact_twist: Double3s  # its moment about the centre
    response: Double3s  # the change of V by that, with all the fluid that sticks to the body
    response_twist: Double3s  # the change of ω
    joint_inverse: Double3x3s  # (M + A)⁻¹ of the body with what it holds: see `respond_body`
    joint_cross: Double3x3s  # B
    joint_inertia_inverse: Double3x3s  # (I + C − Bᵀ (M + A)⁻¹ B)⁻¹
    push_share: Floats  # of a push-out that particles take at once: see `body_positions`
    pressure_response: Floats  # κ, m⁻¹ kg⁻¹: what a body adds to the stiffness of pressures


def allocate(primitives: int, slots: int) -> BodyArrays:
    """Zeroed arrays (the backend must be running)."""
    sizes = {"slot": primitives}
    return BodyArrays(
        **{
            field.name: array(field.type, sizes.get(field.name, slots))
            for field in dataclasses.fields(BodyArrays)
        }
    )


def array(kind, count: int):
    """Zeros of the type that a field of a dataclass asks for, at least one."""
    if kind is Ints or kind is Floats or kind is Doubles:
        return scalars({Ints: qd.i32, Floats: qd.f32, Doubles: qd.f64}[kind], count)
    shape = (max(count, 1),)
    if kind is Double3x3s:
        return qd.Matrix.ndarray(3, 3, qd.f64, shape)
    return qd.Vector.ndarray(3 if kind is Double3s else 4, qd.f64, shape)


@qd.func
def is_dynamic(bodies: BodyArrays, slot: qd.i32) -> bool:
    """Whether forces move what is in this slot (-1: nothing is)."""
    moved = False
    if slot >= 0:
        moved = bodies.primitive[slot] >= 0
    return moved


@qd.func
def arm(bodies: BodyArrays, b: qd.i32, x: vec3):
    """r: from the centre of body b at the start of the step to x, which is of that time too."""
    return qd.cast(x, qd.f64) - bodies.center[b]


@qd.func
def body_velocity(bodies: BodyArrays, b: qd.i32, x: vec3):
    """V + ω × r of the point of body b that is at x at the start of the step, m/s."""
    v = bodies.velocity[b] + bodies.angular_velocity[b].cross(arm(bodies, b, x))
    return qd.cast(v, qd.f32)


@qd.func
def respond_body(bodies: BodyArrays, b: qd.i32):
    """response ← (M6 + Σ m Bᵀ P B)⁻¹ (contact impulse, contact twist), by elimination.

    M6 + Σ = [[M + A, B], [Bᵀ, I + C]].
    """
    f = bodies.contact_impulse[b]
    cross = bodies.joint_cross[b]
    inverse = bodies.joint_inverse[b]
    turn = bodies.contact_twist[b] - cross.transpose() @ (inverse @ f)
    turn = bodies.joint_inertia_inverse[b] @ turn
    bodies.response_twist[b] = turn
    bodies.response[b] = inverse @ (f - cross @ turn)


@qd.func
def place(bodies: BodyArrays, b: qd.i32, dt: qd.f32, colliders: ColliderArrays):
    """Puts the collider of a dynamic body where V and ω take it by the end of the step."""
    k = bodies.primitive[b]
    turn = qd.cast(dt, qd.f64) * bodies.angular_velocity[b]
    angle = turn.norm()
    # sin(a/2)/a, which goes to 1/2
    sine = qd.f64(0.5)
    if angle > 1e-9:
        sine = qd.sin(0.5 * angle) / angle
    u = sine * turn
    w = qd.cos(0.5 * angle)
    q = bodies.orientation[b]
    v = qd.Vector([q[0], q[1], q[2]])
    to = w * v + q[3] * u + u.cross(v)
    real = w * q[3] - u.dot(v)
    center = bodies.center[b] + qd.cast(dt, qd.f64) * bodies.velocity[b]
    o = bodies.offset[b]
    t = 2.0 * to.cross(o)
    o = o + real * t + to.cross(t)
    velocity = bodies.velocity[b] + bodies.angular_velocity[b].cross(o)
    colliders.position[k] = qd.cast(center + o, qd.f32)
    colliders.orientation[k] = qd.cast(qd.Vector([to[0], to[1], to[2], real]), qd.f32)
    colliders.velocity[k] = qd.cast(velocity, qd.f32)
    colliders.angular_velocity[k] = qd.cast(bodies.angular_velocity[b], qd.f32)
