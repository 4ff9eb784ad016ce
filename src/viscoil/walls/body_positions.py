# mypy: disable-error-code="valid-type,index,no-untyped-def,no-untyped-call,misc,untyped-decorator"
"""Two-way coupling of positions: what walls do to places, bodies get back within the iterations.

Pressures of images, push-outs and friction give a body the opposite impulse in every iteration, and its
pose at the end of the step follows. Jacobi steps stay stable because pressures count the body's share
in their stiffness, and push-outs are shared with it (`share_pushes`). Where no collider is tracked,
what concerns bodies is compiled away.
"""

import quadrants as qd

from viscoil.bodies.arrays import BodyArrays, arm, place
from viscoil.colliders.arrays import distance_and_normal
from viscoil.colliders.primitives import Contact
from viscoil.constraints.density import wall_share
from viscoil.core.compute import Vec3s, on_cpu, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.resolution import spacing_of, support_of, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.walls.arrays import WallArrays, note_impulse
from viscoil.walls.body_velocities import outer, take_impulses
from viscoil.walls.response import push_out


@qd.kernel(fastcache=True)
def constrain_positions(
    count: qd.i32, scale: Scale, near: ParticleArrays, walls: WallArrays, place: Vec3s
):
    """Moves the places that particles go to out of the walls, and bodies by the opposite."""
    share_pushes(scale, near, walls)
    for c in range(count):
        i = walls.contacts.particle[c]
        u = (place[i] - near.position[i]) / scale.dt
        _shift, out = push_out(c, vec3(0.0), u, scale, near, walls)
        place[i] = near.position[i] + scale.dt * out
    move_bodies(scale, near, walls)


@qd.func
def move_bodies(scale: Scale, near: ParticleArrays, walls: WallArrays):
    """Gives bodies what particles got, in kg m, and puts their colliders where that takes them."""
    if qd.static(walls.coupled):
        qd.loop_config(serialize=qd.static(on_cpu()))
        for b in range(walls.body_count):
            take_impulses(b, near, walls)
            impulse = walls.bodies.contact_impulse[b] / qd.cast(scale.dt, qd.f64)
            twist = walls.bodies.contact_twist[b] / qd.cast(scale.dt, qd.f64)
            if walls.bodies.primitive[b] >= 0:
                walls.bodies.velocity[b] = (
                    walls.bodies.velocity[b] + walls.bodies.inverse_mass[b] * impulse
                )
                turned = walls.bodies.angular_velocity[b] + walls.bodies.inverse_inertia[b] @ twist
                walls.bodies.angular_velocity[b] = turned
                place(walls.bodies, b, scale.dt, walls.colliders)
            else:
                walls.bodies.impulse[b] = walls.bodies.impulse[b] + impulse
                walls.bodies.twist[b] = walls.bodies.twist[b] + twist


@qd.func
def _cross_matrix(r):
    """[r]×."""
    zero = qd.f64(0.0)
    return qd.Matrix([[zero, -r[2], r[1]], [r[2], zero, -r[0]], [-r[1], r[0], zero]])


@qd.func
def _reaction(bodies: BodyArrays, b: qd.i32, a, cross, turn) -> qd.f32:
    """A bound of the eigenvalues of M6⁻¹ [[A, B], [Bᵀ, C]]: the root of the sum of their squares."""
    light = bodies.inverse_mass[b]
    inverse = bodies.inverse_inertia[b]
    square = light * light * (a @ a).trace()
    square += 2.0 * light * (cross @ inverse @ cross.transpose()).trace()
    square += (inverse @ turn @ inverse @ turn).trace()
    return qd.cast(qd.sqrt(square), qd.f32)


@qd.func
def share_pushes(scale: Scale, near: ParticleArrays, walls: WallArrays):
    """How much bodies give way to all that may press on them at once, as the step starts.

    Push-outs: if each of the touching particles closed its gap alone, the body, moved by all of
    them, would run ahead λ times as far, λ the largest eigenvalue of M6⁻¹ Σ m Bᵀ P B. Each takes the
    share 1/(1 + λ), and iterations do the rest. Pressures: D_i = 2 Δt² V |∇γ_i| κ is at least the
    body's part of their system, if κ is the largest eigenvalue of M6⁻¹ Σ 2 |∇γ_i| J Jᵀ, J = (n, r × n).
    """
    if qd.static(walls.coupled):
        qd.loop_config(serialize=qd.static(on_cpu()))
        for b in range(walls.body_count):
            k = walls.bodies.primitive[b]
            if k >= 0:
                _share_pushes_of(b, k, scale, near, walls)


@qd.func
def _share_pushes_of(b: qd.i32, k: qd.i32, scale: Scale, near: ParticleArrays, walls: WallArrays):
    zero = qd.Matrix.zero(qd.f64, 3, 3)
    a, cross, turn = zero, zero, zero
    pressed, pressed_cross, pressed_turn = zero, zero, zero
    for c in range(walls.contacts.count):
        i = walls.contacts.particle[c]
        start = walls.contacts.start[c * walls.body_count + b]
        n = qd.cast(vec3(start[0], start[1], start[2]), qd.f64)
        r = arm(walls.bodies, b, near.position[i])
        lever = r.cross(n)
        if start[3] < spacing_of(scale, near, i):
            m = 1.0 / qd.cast(near.inverse_mass[i], qd.f64)
            if walls.colliders.contact[k] == Contact.SLIP:
                a += m * outer(n, n)
                cross += m * outer(n, lever)
                turn += m * outer(lever, lever)
            else:
                unit = qd.Matrix.identity(qd.f64, 3)
                a += m * unit
                cross -= m * _cross_matrix(r)
                turn += m * (r.dot(r) * unit - outer(r, r))
        slope = 2.0 * wall_share(start[3], support_of(scale, near, i), walls.density)[1]
        weight = qd.cast(qd.abs(slope), qd.f64)
        pressed += weight * outer(n, n)
        pressed_cross += weight * outer(n, lever)
        pressed_turn += weight * outer(lever, lever)
    walls.bodies.push_share[b] = 1.0 / (1.0 + _reaction(walls.bodies, b, a, cross, turn))
    walls.bodies.pressure_response[b] = _reaction(
        walls.bodies, b, pressed, pressed_cross, pressed_turn
    )


@qd.func
def body_stiffness(
    y: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32
) -> qd.f32:
    """Δt² V Σ 2 |∇γ_k| κ_k, 1/Pa: what bodies add to the stiffness of the pressure of particle i at y."""
    added = 0.0
    if qd.static(walls.coupled):
        if near.contact[i] >= 0:
            total = 0.0
            for b in range(walls.body_count):
                k = walls.bodies.primitive[b]
                if k >= 0:
                    distance = distance_and_normal(walls.colliders, k, y)[3]
                    slope = 2.0 * wall_share(distance, support_of(scale, near, i), walls.density)[1]
                    total += qd.abs(slope) * walls.bodies.pressure_response[b]
            added = scale.dt * scale.dt * volume_of(scale, near, i) * total
    return added


@qd.func
def take_back(cut: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32):
    """What is cut off the motion of a particle that was pushed too far, its nearest body loses too.

    Without that the body would keep the recoil of a push that did not take place.
    """
    if qd.static(walls.coupled):
        if near.contact[i] >= 0:
            impulse = cut / near.inverse_mass[i]
            if impulse.dot(impulse) > 0.0:
                _take_back_from_nearest(impulse, scale, near, walls, i)


@qd.func
def _take_back_from_nearest(
    impulse: vec3, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32
):
    c = near.contact[i]
    nearest = support_of(scale, near, i)
    slot = -1
    for b in range(walls.body_count):
        if walls.bodies.primitive[b] >= 0:
            distance = walls.contacts.start[c * walls.body_count + b][3]
            if distance < nearest:
                nearest = distance
                slot = b
    note_impulse(c, slot, walls, impulse)
