# mypy: disable-error-code="valid-type,index,no-untyped-def,no-untyped-call,misc,untyped-decorator"
"""Two-way coupling of velocities: bodies and the particles that they hold move together.

A light body in heavy fluid blows up if it learns of forces a step later (added mass), so a velocity
solve moves it too. A contact takes away degrees of freedom; those that a dynamic body holds move with
it. With P the projector on what is taken away and B = [1, −[r]×], a body with all that it holds has the
mass M6 + Σ m Bᵀ P B, and answers the forces that the contacts take up, Σ Bᵀ P f. That is exact
elimination of the constraints: the operator stays symmetric and positive semidefinite.

Arms are taken at the start of the step, as for all forces here: velocities are (x − x⁰)/Δt, so
x × u = x⁰ × u, and impulses that are opposite with common arms at x⁰ keep the angular momentum.
Sums over contacts run in one thread per body, so that the result has the same bits for any number.
Where no collider is tracked, everything here is compiled away.
"""

import quadrants as qd

from viscoil.bodies.arrays import arm, double3, is_dynamic, place, respond_body
from viscoil.core.compute import Doubles, Floats, Vec3s, on_cpu, vec3
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.walls.arrays import WallArrays, free_part
from viscoil.walls.body_loads import add_loads


@qd.func
def take_impulses(b: qd.i32, near: ParticleArrays, walls: WallArrays):
    """contact_impulse ← the opposite of what slot b gave to particles since it was last asked."""
    impulse = double3(0.0)
    twist = double3(0.0)
    for c in range(walls.contacts.count):
        entry = c * walls.body_count + b
        given = walls.contacts.impulse[entry]
        if given.dot(given) > 0.0:
            walls.contacts.impulse[entry] = vec3(0.0)
            back = -qd.cast(given, qd.f64)
            impulse += back
            twist += arm(walls.bodies, b, near.position[walls.contacts.particle[c]]).cross(back)
    walls.bodies.contact_impulse[b] = impulse
    walls.bodies.contact_twist[b] = twist


@qd.func
def outer(a, b):
    return a.outer_product(b)


@qd.func
def _join(b: qd.i32, near: ParticleArrays, walls: WallArrays):
    """Prepares `respond_body`: the mass of body b with all that it holds."""
    unit = qd.Matrix.identity(qd.f64, 3)
    a = unit / walls.bodies.inverse_mass[b]
    cross = qd.Matrix.zero(qd.f64, 3, 3)
    inertia = walls.bodies.inertia[b]
    for c in range(walls.contacts.count):
        if walls.contacts.holder[c] == b:
            i = walls.contacts.particle[c]
            m = 1.0 / qd.cast(near.inverse_mass[i], qd.f64)
            r = arm(walls.bodies, b, near.position[i])
            # free_part of the unit vectors tells P without asking for the mode again
            for axis in qd.static(range(3)):
                e = vec3(0.0)
                e[axis] = 1.0
                taken = qd.cast(e - free_part(c, walls, e), qd.f64)
                turned = r.cross(taken)
                # P = Pᵀ P, so its rows serve as the normals of three contacts
                a += m * outer(taken, taken)
                cross += m * outer(taken, turned)
                inertia += m * outer(turned, turned)
    inverse = a.inverse()
    walls.bodies.joint_inverse[b] = inverse
    walls.bodies.joint_cross[b] = cross
    walls.bodies.joint_inertia_inverse[b] = (
        inertia - cross.transpose() @ inverse @ cross
    ).inverse()


@qd.kernel(fastcache=True)
def move_together(
    dt: qd.f32, anew: qd.i32, near: ParticleArrays, walls: WallArrays, velocity: Vec3s
):
    """Bodies and what they hold get one velocity, with the momentum that they had together.

    `anew`: the velocities are those without any contact, so bodies start from theirs too.
    """
    move_all_together(dt, anew, near, walls, velocity)


@qd.func
def move_all_together(
    dt: qd.f32, anew: qd.i32, near: ParticleArrays, walls: WallArrays, velocity: Vec3s
):
    """`move_together` inside a kernel."""
    if qd.static(walls.coupled):
        qd.loop_config(serialize=qd.static(on_cpu()))
        for b in range(walls.body_count):
            take_impulses(b, near, walls)
            if walls.bodies.primitive[b] < 0:
                if anew == 1:
                    walls.bodies.impulse[b] = walls.bodies.pressed_impulse[b]
                    walls.bodies.twist[b] = walls.bodies.pressed_twist[b]
                walls.bodies.impulse[b] = walls.bodies.impulse[b] + walls.bodies.contact_impulse[b]
                walls.bodies.twist[b] = walls.bodies.twist[b] + walls.bodies.contact_twist[b]
            else:
                if anew == 1:
                    change = walls.bodies.velocity[b] - walls.bodies.free_velocity[b]
                    more = -change / walls.bodies.inverse_mass[b]
                    walls.bodies.contact_impulse[b] = walls.bodies.contact_impulse[b] + more
                    turn = walls.bodies.angular_velocity[b] - walls.bodies.free_angular_velocity[b]
                    twist = -(walls.bodies.inertia[b] @ turn)
                    walls.bodies.contact_twist[b] = walls.bodies.contact_twist[b] + twist
                add_loads(b, 1.0, walls.contacts.load, walls.contacts.load_twist, walls)
                _join(b, near, walls)
                _respond(b, dt, walls)
        for c in range(walls.contacts.count):
            i = walls.contacts.particle[c]
            velocity[i] = velocity[i] + _change_with_body(c, near, walls)


@qd.func
def _respond(b: qd.i32, dt: qd.f32, walls: WallArrays):
    """Body b, with what it holds, gets its contact impulse."""
    respond_body(walls.bodies, b)
    walls.bodies.velocity[b] = walls.bodies.velocity[b] + walls.bodies.response[b]
    turned = walls.bodies.angular_velocity[b] + walls.bodies.response_twist[b]
    walls.bodies.angular_velocity[b] = turned
    place(walls.bodies, b, dt, walls.colliders)


@qd.func
def free_bodies(dt: qd.f32, near: ParticleArrays, walls: WallArrays, velocity: Vec3s):
    """Takes back what the solve gave to bodies so far; what contacts hold moves with them."""
    if qd.static(walls.coupled):
        qd.loop_config(serialize=qd.static(on_cpu()))
        for b in range(walls.body_count):
            if walls.bodies.primitive[b] >= 0:
                walls.bodies.contact_impulse[b] = double3(0.0)
                walls.bodies.contact_twist[b] = double3(0.0)
                add_loads(b, -1.0, walls.contacts.load, walls.contacts.load_twist, walls)
                _respond(b, dt, walls)
        for c in range(walls.contacts.count):
            i = walls.contacts.particle[c]
            velocity[i] = velocity[i] + _change_with_body(c, near, walls)


@qd.func
def keep_bodies(walls: WallArrays):
    """Keeps the velocities of bodies, to tell later what an iteration did to them."""
    if qd.static(walls.coupled):
        qd.loop_config(serialize=True)
        for b in range(walls.body_count):
            walls.bodies.velocity_before[b] = walls.bodies.velocity[b]
            walls.bodies.angular_velocity_before[b] = walls.bodies.angular_velocity[b]


@qd.func
def measure_response(numbers: Doubles, walls: WallArrays):
    """response ← what bodies did since `keep_bodies`, over the length of an iteration, number 3."""
    if qd.static(walls.coupled):
        qd.loop_config(serialize=True)
        for b in range(walls.body_count):
            length = numbers[3]
            share = qd.f64(0.0)
            if qd.abs(length) > 1e-30:
                share = 1.0 / length
            change = walls.bodies.velocity[b] - walls.bodies.velocity_before[b]
            turn = walls.bodies.angular_velocity[b] - walls.bodies.angular_velocity_before[b]
            walls.bodies.response[b] = share * change
            walls.bodies.response_twist[b] = share * turn


@qd.func
def press_bodies(dt: qd.f32, near: ParticleArrays, walls: WallArrays):
    """Gives bodies what pressures gave to particles, in kg m, before any contact holds them."""
    if qd.static(walls.coupled):
        qd.loop_config(serialize=qd.static(on_cpu()))
        for b in range(walls.body_count):
            take_impulses(b, near, walls)
            impulse = walls.bodies.contact_impulse[b] / qd.cast(dt, qd.f64)
            twist = walls.bodies.contact_twist[b] / qd.cast(dt, qd.f64)
            walls.bodies.pressed_impulse[b] = impulse
            walls.bodies.pressed_twist[b] = twist
            if walls.bodies.primitive[b] >= 0:
                change = walls.bodies.inverse_mass[b] * impulse
                turn = walls.bodies.inverse_inertia[b] @ twist
                walls.bodies.free_velocity[b] = walls.bodies.free_velocity[b] + change
                walls.bodies.velocity[b] = walls.bodies.velocity[b] + change
                free_turn = walls.bodies.free_angular_velocity[b] + turn
                walls.bodies.free_angular_velocity[b] = free_turn
                walls.bodies.angular_velocity[b] = walls.bodies.angular_velocity[b] + turn
                place(walls.bodies, b, dt, walls.colliders)


@qd.func
def tell_fixed(dt: qd.f32, near: ParticleArrays, walls: WallArrays):
    """Adds what pressures gave to particles, in kg m, to what fixed colliders that are tracked tell."""
    if qd.static(walls.coupled):
        qd.loop_config(serialize=qd.static(on_cpu()))
        for b in range(walls.body_count):
            take_impulses(b, near, walls)
            if walls.bodies.primitive[b] < 0:
                impulse = walls.bodies.contact_impulse[b] / qd.cast(dt, qd.f64)
                twist = walls.bodies.contact_twist[b] / qd.cast(dt, qd.f64)
                walls.bodies.impulse[b] = walls.bodies.impulse[b] + impulse
                walls.bodies.twist[b] = walls.bodies.twist[b] + twist


@qd.kernel(fastcache=True)
def place_bodies(dt: qd.f32, walls: WallArrays):
    """Puts colliders where the velocities of their bodies take them by the end of the step."""
    qd.loop_config(serialize=True)
    for b in range(walls.body_count):
        if walls.bodies.primitive[b] >= 0:
            place(walls.bodies, b, dt, walls.colliders)


@qd.func
def _change_with_body(c: qd.i32, near: ParticleArrays, walls: WallArrays) -> vec3:
    """P B a: the change of the particle's velocity by the response of the body that holds it."""
    result = vec3(0.0)
    b = walls.contacts.holder[c]
    if is_dynamic(walls.bodies, b):
        r = arm(walls.bodies, b, near.position[walls.contacts.particle[c]])
        along = qd.cast(walls.bodies.response[b] + walls.bodies.response_twist[b].cross(r), qd.f32)
        result = along - free_part(c, walls, along)
    return result


@qd.func
def held_change(w: vec3, near: ParticleArrays, walls: WallArrays, i: qd.i32) -> vec3:
    """What contacts leave of the velocity change w of particle i; with bodies, see `respond_bodies`."""
    left = w
    if qd.static(not walls.coupled):
        left = free_part(near.contact[i], walls, w)
    return left


@qd.func
def held_energy(w: vec3, near: ParticleArrays, walls: WallArrays, i: qd.i32) -> qd.f32:
    """2 m |w|² of a velocity change that is final; with bodies, see `respond_bodies`."""
    energy = 0.0
    if qd.static(not walls.coupled):
        energy = 2.0 * w.dot(w) / near.inverse_mass[i]
    return energy


@qd.func
def respond_bodies(n: qd.i32, near: ParticleArrays, walls: WallArrays, change: Vec3s, term: Floats):
    """response ← that of the bodies to what contacts take of the velocity changes w, and to loads.

    Then w becomes what contacts leave of it, with what moves with bodies, and the terms get 2 m |w|².
    """
    if qd.static(walls.coupled):
        qd.loop_config(serialize=qd.static(on_cpu()))
        for b in range(walls.body_count):
            impulse = double3(0.0)
            twist = double3(0.0)
            for c in range(walls.contacts.count):
                if walls.contacts.holder[c] == b:
                    i = walls.contacts.particle[c]
                    w = change[i]
                    taken = qd.cast((w - free_part(c, walls, w)) / near.inverse_mass[i], qd.f64)
                    impulse += taken
                    twist += arm(walls.bodies, b, near.position[i]).cross(taken)
            walls.bodies.contact_impulse[b] = impulse
            walls.bodies.contact_twist[b] = twist
            if walls.bodies.primitive[b] >= 0:
                add_loads(
                    b, 1.0, walls.contacts.load_change, walls.contacts.load_twist_change, walls
                )
                respond_body(walls.bodies, b)
        for c in range(walls.contacts.count):
            i = walls.contacts.particle[c]
            free = free_part(c, walls, change[i])
            change[i] = free + _change_with_body(c, near, walls)
        for i in range(n):
            w = change[i]
            term[i] = term[i] + 2.0 * w.dot(w) / near.inverse_mass[i]


@qd.func
def add_body_terms(walls: WallArrays, numbers: Doubles):
    """Number 4 ← what the bodies' own motion adds to p·A p: 2 aᵀ M6 a."""
    if qd.static(walls.coupled):
        qd.loop_config(serialize=True)
        for b in range(walls.body_count):
            if b == 0:
                numbers[4] = 0.0
            if walls.bodies.primitive[b] >= 0:
                v = walls.bodies.response[b]
                w = walls.bodies.response_twist[b]
                energy = v.dot(v) / walls.bodies.inverse_mass[b]
                energy += w.dot(walls.bodies.inertia[b] @ w)
                numbers[4] = numbers[4] + 2.0 * energy
