# mypy: disable-error-code="valid-type,index,no-untyped-def,no-untyped-call,misc,untyped-decorator"
"""Two-way coupling: the opposite of what colliders do to particles moves them, within iterations.

A light body in heavy fluid blows up if it learns of forces a step later (added mass), so both
projections move it:

- Velocities. A contact takes away degrees of freedom; those that a dynamic body holds move with it.
  With P the projector on what is taken away and B = [1, −[r]×], a body with all that it holds has
  the mass M6 + Σ m Bᵀ P B, and answers the forces that the contacts take up, Σ Bᵀ P f. That is
  exact elimination of the constraints: the operator stays symmetric and positive semidefinite.
- Positions. Pressure on γ, push-outs and friction give the body the opposite impulse in every
  iteration, and its pose at the end of the step follows. Jacobi steps stay stable because pressures
  count the body's share in their stiffness, and push-outs are shared with it (`weigh`).

Arms are taken at the start of the step, as for all forces here: velocities are (x − x⁰)/Δt, so
x × u = x⁰ × u, and impulses that are opposite with common arms at x⁰ keep the angular momentum.
Sums over contacts run in one thread per body, so that the result has the same bits for any number.
"""

import quadrants as qd

from viscoil.bodies.arrays import BodyArrays, arm, double3, is_dynamic, place, respond_body
from viscoil.colliders.arrays import distance_and_normal
from viscoil.colliders.primitives import Contact
from viscoil.constraints.density import wall_share
from viscoil.core.compute import Doubles, Floats, Vec3s, on_cpu, vec3
from viscoil.neighbors.resolution import spacing_of, support_of, volume_of
from viscoil.neighbors.scale import Scale
from viscoil.solvers.dcpbd.workspace import Fluid, Unknowns
from viscoil.walls.walls import Contacts, Walls, free_part, is_known, note_impulse


@qd.func
def _take_impulses(b: qd.i32, walls: Walls, contacts: Contacts, fluid: Fluid):
    """load ← the opposite of what slot b gave to particles since it was last asked."""
    load = double3(0.0)
    twist = double3(0.0)
    for c in range(contacts.count):
        entry = c * walls.body_count + b
        given = contacts.impulse[entry]
        if given.dot(given) > 0.0:
            contacts.impulse[entry] = vec3(0.0)
            back = -qd.cast(given, qd.f64)
            load += back
            twist += arm(walls.bodies, b, fluid.position[contacts.particle[c]]).cross(back)
    walls.bodies.load[b] = load
    walls.bodies.load_twist[b] = twist


@qd.func
def _outer(a, b):
    return a.outer_product(b)


@qd.func
def _cross_matrix(r):
    """[r]×."""
    zero = qd.f64(0.0)
    return qd.Matrix([[zero, -r[2], r[1]], [r[2], zero, -r[0]], [-r[1], r[0], zero]])


@qd.func
def _join(b: qd.i32, walls: Walls, contacts: Contacts, fluid: Fluid):
    """Prepares `respond_body`: the mass of body b with all that it holds."""
    unit = qd.Matrix.identity(qd.f64, 3)
    a = unit / walls.bodies.inverse_mass[b]
    cross = qd.Matrix.zero(qd.f64, 3, 3)
    inertia = walls.bodies.inertia[b]
    for c in range(contacts.count):
        if contacts.holder[c] == b:
            i = contacts.particle[c]
            m = 1.0 / qd.cast(fluid.inverse_mass[i], qd.f64)
            r = arm(walls.bodies, b, fluid.position[i])
            # free_part of the unit vectors tells P without asking for the mode again
            for axis in qd.static(range(3)):
                e = vec3(0.0)
                e[axis] = 1.0
                taken = qd.cast(e - free_part(c, contacts, e), qd.f64)
                turned = r.cross(taken)
                # P = Pᵀ P, so its rows serve as the normals of three contacts
                a += m * _outer(taken, taken)
                cross += m * _outer(taken, turned)
                inertia += m * _outer(turned, turned)
    inverse = a.inverse()
    walls.bodies.joint_inverse[b] = inverse
    walls.bodies.joint_cross[b] = cross
    walls.bodies.joint_inertia_inverse[b] = (
        inertia - cross.transpose() @ inverse @ cross
    ).inverse()


@qd.kernel(fastcache=True)
def hold(dt: qd.f32, anew: qd.i32, walls: Walls, contacts: Contacts, fluid: Fluid, velocity: Vec3s):
    """Bodies and what they hold get one velocity, with the momentum that they had together.

    `anew`: the velocities are those without any contact, so bodies start from theirs too.
    """
    qd.loop_config(serialize=qd.static(on_cpu()))
    for b in range(walls.body_count):
        _take_impulses(b, walls, contacts, fluid)
        if walls.bodies.primitive[b] < 0:
            if anew == 1:
                walls.bodies.impulse[b] = double3(0.0)
                walls.bodies.twist[b] = double3(0.0)
            walls.bodies.impulse[b] = walls.bodies.impulse[b] + walls.bodies.load[b]
            walls.bodies.twist[b] = walls.bodies.twist[b] + walls.bodies.load_twist[b]
        else:
            if anew == 1:
                change = walls.bodies.velocity[b] - walls.bodies.free_velocity[b]
                walls.bodies.load[b] = walls.bodies.load[b] - change / walls.bodies.inverse_mass[b]
                turn = walls.bodies.angular_velocity[b] - walls.bodies.free_angular_velocity[b]
                walls.bodies.load_twist[b] = (
                    walls.bodies.load_twist[b] - walls.bodies.inertia[b] @ turn
                )
            _join(b, walls, contacts, fluid)
            respond_body(walls.bodies, b)
            walls.bodies.velocity[b] = walls.bodies.velocity[b] + walls.bodies.response[b]
            turned = walls.bodies.angular_velocity[b] + walls.bodies.response_twist[b]
            walls.bodies.angular_velocity[b] = turned
            place(walls.bodies, b, dt, walls.colliders)
    for c in range(contacts.count):
        i = contacts.particle[c]
        velocity[i] = velocity[i] + carried(c, walls.bodies, contacts, fluid)


@qd.kernel(fastcache=True)
def place_bodies(dt: qd.f32, walls: Walls):
    """Puts colliders where the velocities of their bodies take them by the end of the step."""
    qd.loop_config(serialize=True)
    for b in range(walls.body_count):
        if walls.bodies.primitive[b] >= 0:
            place(walls.bodies, b, dt, walls.colliders)


@qd.func
def carried(c: qd.i32, bodies: BodyArrays, contacts: Contacts, fluid: Fluid) -> vec3:
    """P B a: the change of the particle's velocity by the response of the body that holds it."""
    result = vec3(0.0)
    b = contacts.holder[c]
    if is_dynamic(bodies, b):
        r = arm(bodies, b, fluid.position[contacts.particle[c]])
        along = qd.cast(bodies.response[b] + bodies.response_twist[b].cross(r), qd.f32)
        result = along - free_part(c, contacts, along)
    return result


@qd.func
def respond_bodies(walls: Walls, contacts: Contacts, fluid: Fluid, unknowns: Unknowns):
    """response ← that of the bodies to what contacts take of the velocity changes w.

    Then w becomes what contacts leave of it, with what bodies carry along.
    """
    qd.loop_config(serialize=qd.static(on_cpu()))
    for b in range(walls.body_count):
        load = double3(0.0)
        twist = double3(0.0)
        for c in range(contacts.count):
            if contacts.holder[c] == b:
                i = contacts.particle[c]
                w = unknowns.change[i]
                taken = qd.cast((w - free_part(c, contacts, w)) / fluid.inverse_mass[i], qd.f64)
                load += taken
                twist += arm(walls.bodies, b, fluid.position[i]).cross(taken)
        walls.bodies.load[b] = load
        walls.bodies.load_twist[b] = twist
        if walls.bodies.primitive[b] >= 0:
            respond_body(walls.bodies, b)
    for c in range(contacts.count):
        i = contacts.particle[c]
        free = free_part(c, contacts, unknowns.change[i])
        unknowns.change[i] = free + carried(c, walls.bodies, contacts, fluid)


@qd.func
def add_body_terms(walls: Walls, sums: Doubles):
    """What the bodies' own motion adds to p·A p: 2 aᵀ M6 a."""
    qd.loop_config(serialize=True)
    for b in range(walls.body_count):
        if walls.bodies.primitive[b] >= 0:
            v = walls.bodies.response[b]
            w = walls.bodies.response_twist[b]
            energy = v.dot(v) / walls.bodies.inverse_mass[b] + w.dot(walls.bodies.inertia[b] @ w)
            sums[0] = sums[0] + 2.0 * energy


@qd.func
def advance_bodies(dt: qd.f32, walls: Walls, sums: Doubles):
    """V += length a, with the length that the particles take too."""
    qd.loop_config(serialize=True)
    for b in range(walls.body_count):
        length = 1.0 / sums[1]
        if walls.bodies.primitive[b] >= 0:
            walls.bodies.velocity[b] = walls.bodies.velocity[b] + length * walls.bodies.response[b]
            turned = walls.bodies.angular_velocity[b] + length * walls.bodies.response_twist[b]
            walls.bodies.angular_velocity[b] = turned
            place(walls.bodies, b, dt, walls.colliders)
        else:
            walls.bodies.impulse[b] = walls.bodies.impulse[b] + length * walls.bodies.load[b]
            walls.bodies.twist[b] = walls.bodies.twist[b] + length * walls.bodies.load_twist[b]


@qd.func
def move_bodies(scale: Scale, walls: Walls, contacts: Contacts, fluid: Fluid):
    """Gives bodies what particles got, in kg m, and puts their colliders where that takes them."""
    qd.loop_config(serialize=qd.static(on_cpu()))
    for b in range(walls.body_count):
        _take_impulses(b, walls, contacts, fluid)
        impulse = walls.bodies.load[b] / qd.cast(scale.dt, qd.f64)
        twist = walls.bodies.load_twist[b] / qd.cast(scale.dt, qd.f64)
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
def _reaction(bodies: BodyArrays, b: qd.i32, a, cross, turn) -> qd.f32:
    """A bound of the eigenvalues of M6⁻¹ [[A, B], [Bᵀ, C]]: the root of the sum of their squares."""
    light = bodies.inverse_mass[b]
    inverse = bodies.inverse_inertia[b]
    square = light * light * (a @ a).trace()
    square += 2.0 * light * (cross @ inverse @ cross.transpose()).trace()
    square += (inverse @ turn @ inverse @ turn).trace()
    return qd.cast(qd.sqrt(square), qd.f32)


@qd.func
def weigh(scale: Scale, walls: Walls, contacts: Contacts, fluid: Fluid, wall_table: Floats):
    """How much bodies give way to all that may press on them at once, as the step starts.

    Push-outs: if each of the touching particles closed its gap alone, the body, moved by all of
    them, would run ahead λ times as far, λ the largest eigenvalue of M6⁻¹ Σ m Bᵀ P B. Each takes the
    share 1/(1 + λ), and iterations do the rest. Pressures: D_i = Δt² V |∇γ_i| κ is at least the
    body's part of their system, if κ is the largest eigenvalue of M6⁻¹ Σ |∇γ_i| J Jᵀ, J = (n, r × n).
    """
    qd.loop_config(serialize=qd.static(on_cpu()))
    for b in range(walls.body_count):
        k = walls.bodies.primitive[b]
        if k >= 0:
            zero = qd.Matrix.zero(qd.f64, 3, 3)
            a, cross, turn = zero, zero, zero
            pressed, pressed_cross, pressed_turn = zero, zero, zero
            for c in range(contacts.count):
                i = contacts.particle[c]
                start = contacts.start[c * walls.body_count + b]
                n = qd.cast(vec3(start[0], start[1], start[2]), qd.f64)
                r = arm(walls.bodies, b, fluid.position[i])
                lever = r.cross(n)
                if start[3] < spacing_of(scale, fluid, i):
                    m = 1.0 / qd.cast(fluid.inverse_mass[i], qd.f64)
                    if walls.colliders.contact[k] == Contact.SLIP:
                        a += m * _outer(n, n)
                        cross += m * _outer(n, lever)
                        turn += m * _outer(lever, lever)
                    else:
                        unit = qd.Matrix.identity(qd.f64, 3)
                        a += m * unit
                        cross -= m * _cross_matrix(r)
                        turn += m * (r.dot(r) * unit - _outer(r, r))
                slope = wall_share(start[3], support_of(scale, fluid, i), wall_table)[1]
                weight = qd.cast(qd.abs(slope), qd.f64)
                pressed += weight * _outer(n, n)
                pressed_cross += weight * _outer(n, lever)
                pressed_turn += weight * _outer(lever, lever)
            walls.bodies.yielding[b] = 1.0 / (1.0 + _reaction(walls.bodies, b, a, cross, turn))
            walls.bodies.softness[b] = _reaction(
                walls.bodies, b, pressed, pressed_cross, pressed_turn
            )


@qd.func
def body_stiffness(y: vec3, support: qd.f32, walls: Walls, wall_table: Floats) -> qd.f32:
    """Σ |∇γ_k| κ_k, m⁻² kg⁻¹: what bodies add to S/(Δt² V) of a particle at y."""
    total = 0.0
    for b in range(walls.body_count):
        k = walls.bodies.primitive[b]
        if k >= 0:
            distance = distance_and_normal(walls.colliders, k, y)[3]
            slope = wall_share(distance, support, wall_table)[1]
            total += qd.abs(slope) * walls.bodies.softness[b]
    return total


@qd.func
def press(
    y: vec3,
    pressure: qd.f32,
    motion: qd.f32,
    scale: Scale,
    fluid: Fluid,
    i: qd.i32,
    walls: Walls,
    contacts: Contacts,
    wall_table: Floats,
) -> vec3:
    """p ∇γ at y of particle i, Pa/m.

    Walls get −Δt² V p ∇γ of it, as far as it is `motion` and no shift.
    """
    c = fluid.wall[i]
    support = support_of(scale, fluid, i)
    outside = 1.0
    for k in range(walls.count):
        at = distance_and_normal(walls.colliders, k, y)
        if is_known(at):
            outside *= qd.max(1.0 - wall_share(at[3], support, wall_table)[0], 0.05)
    total = vec3(0.0)
    for k in range(walls.count):
        at = distance_and_normal(walls.colliders, k, y)
        share = wall_share(at[3], support, wall_table)
        if share[0] > 0.0 and is_known(at):
            n = vec3(at[0], at[1], at[2])
            slot = walls.bodies.slot[k]
            if is_dynamic(walls.bodies, slot):
                start = contacts.start[c * walls.body_count + slot]
                steady = vec3(start[0], start[1], start[2])
                if steady.dot(n) > 0.8:
                    n = steady
            left = qd.max(1.0 - share[0], 0.05)
            step = pressure * outside * share[1] / left * n
            total += step
            unit = scale.dt * scale.dt * volume_of(scale, fluid, i)
            note_impulse(c, slot, walls, contacts, -motion * unit * step)
    return total


@qd.func
def take_back(
    impulse: vec3, i: qd.i32, scale: Scale, fluid: Fluid, walls: Walls, contacts: Contacts
):
    """What is cut off the motion of a particle that was pushed too far, its nearest body loses too.

    Without that the body would keep the recoil of a push that did not take place.
    """
    if impulse.dot(impulse) > 0.0:
        c = fluid.wall[i]
        nearest = support_of(scale, fluid, i)
        slot = -1
        for b in range(walls.body_count):
            if walls.bodies.primitive[b] >= 0:
                distance = contacts.start[c * walls.body_count + b][3]
                if distance < nearest:
                    nearest = distance
                    slot = b
        note_impulse(c, slot, walls, contacts, impulse)
