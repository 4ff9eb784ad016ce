# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Fluids without shape: the shear stress that an arrangement of particles has under pressure is relieved.

Pressure forces −V_i V_j (p_i + p_j) ∇W_ij have the stress −p_i M_i, with the second moment
M_i = −Σ_j V_j x_ij ⊗ ∇W_ij. It is I where neighbours lie evenly around a particle. Shear makes it uneven,
and −p dev M resists the shear: under pressure, particles are a solid of a modulus in proportion to
p, and beyond some percent of strain one that yields. Waves are 5 to 10 % too fast, light fluid stays
below heavy, and a ball that sinks in syrup is slowed to half its speed within a few spacings: what holds
it grows with the depth of the syrup and not with its viscosity.

The mean of that stress over a neighbourhood acts once more with the opposite sign,

    f_i = Σ_j V_i V_j (T_i + T_j) ∇W_ij,    T_i = Σ_j V_j W_ij p_j dev M_j,

before pressures are found. What is left is what differs from particle to particle, which still keeps them
apart. On a cubic lattice under an even pressure the springs that are left are stable for all waves with
Wendland's function, and nearly none for long ones (`tests/solvers/test_relief.py`); with the cubic spline
they are not, with or without relief. Pairs push oppositely, so momentum is kept. Walls mirror particles
and their stresses. Firm elastic solids have none of it: their stress is in charge of shear. Nor have
particles whose moments are uneven at rest: those among others of another size, thin ones beside bodies
that fluid moves, which are round where images take them for flat (a ball in water floated 7 % too deep;
in syrup it sinks 14 % too slowly without), and those of fluids with a surface tension, whose pressure
does not vanish at the surface. And none where walls are within reach on either side: in a sticky duct of
three particles relief fed on itself, to a thousand times the energy that there was.

Pressures answer to relief, and relief to the pressures of the step before, as impulses: a loop that no
shorter step calms. Its gain is some two thirds of |dev M|, measured where a drop hits a corner. Shear
leaves |dev M| below 0.6 in 99 % of particles, for they yield. One with hardly any neighbours, beside two
walls, had 1.3, and went from 5 to 40 m/s in ten ever shorter steps. So `MOST_UNEVEN` of it is relieved.

When it is bad: forces are not central, so a body under pressure keeps its spin only as far as
neighbourhoods are even. What it does to energy is bounded by what shear did to the arrangement.
"""

import quadrants as qd

from viscoil.constraints.symmetric import congruence, double_dot, identity, square, times_vector
from viscoil.core.compute import Floats, Vec6s, vec3, vec6
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.neighbors.bodies import apart
from viscoil.neighbors.period import separation
from viscoil.neighbors.resolution import pair_size, value_share, volume_of, weight_share
from viscoil.neighbors.scale import Scale
from viscoil.neighbors.smoothing import slope_over_q, value
from viscoil.solvers.dcpbd.arrays import Stencil, Unknowns
from viscoil.solvers.dcpbd.mirrors import is_mirrored
from viscoil.solvers.dcpbd.stress_table import StressTable
from viscoil.walls.arrays import WallArrays, note_impulse

MOST_UNEVEN = (
    0.6  # of |dev M|: the gain of the loop is below a half, as that of recalled pressures is
)


@qd.kernel(fastcache=True)
def relieve(
    n: qd.i32,
    most: qd.f32,
    scale: Scale,
    materials: StressTable,
    tension: Floats,
    near: ParticleArrays,
    walls: WallArrays,
    stencil: Stencil,
    unknowns: Unknowns,
):
    """u* += Δt M⁻¹ f, with p of the last step at x⁰.

    `most` bounds |dev M|, and `tension` (N/m) is that of each material.
    """
    for i in range(n):
        pressure = qd.max(unknowns.pressure[i], 0.0)
        if materials.relaxation[near.material[i]] >= 1.0:
            pressure *= 1.0 - stencil.firmness[i]
        unknowns.uneven[i] = vec6(0.0)
        fit = tension[near.material[i]] == 0.0 and not _among_other_sizes(scale, near, i)
        if _beside_body(near, walls, i):
            pressure *= stencil.firmness[i]
        if pressure > 0.0 and fit and not _confined(near, walls, i):
            uneven = _deviator(_moment(scale, near, walls, i))
            norm = qd.sqrt(double_dot(uneven, uneven))
            unknowns.uneven[i] = pressure * qd.min(1.0, most / qd.max(norm, 1e-30)) * uneven
    for i in range(n):
        unknowns.relief[i] = _smoothed(unknowns.uneven, scale, near, walls, i)
    for i in range(n):
        force = _force(unknowns.relief, scale, near, walls, i)
        change = scale.dt * near.inverse_mass[i] * force
        unknowns.velocity[i] = unknowns.velocity[i] + change


@qd.func
def _among_other_sizes(scale: Scale, near: ParticleArrays, i: qd.i32):
    """Whether a neighbour of particle i is of another size."""
    found = False
    if qd.static(scale.mixed):
        for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
            found = found or near.size[near.pairs.neighbor[k]] != near.size[i]
    return found


@qd.func
def _beside_body(near: ParticleArrays, walls: WallArrays, i: qd.i32):
    """Whether particle i has images in a body that fluid moves."""
    found = False
    if qd.static(walls.coupled):
        if near.contact[i] >= 0:
            found = walls.contacts.body[near.contact[i]] != -1
    return found


@qd.func
def _confined(near: ParticleArrays, walls: WallArrays, i: qd.i32):
    """Whether particle i has images in walls on either side of it."""
    found = False
    if near.contact[i] >= 0:
        c = near.contact[i]
        for s in range(walls.contacts.mirrors[c]):
            for t in range(s):
                one = walls.contacts.mirror_normal[3 * c + s]
                found = found or one.dot(walls.contacts.mirror_normal[3 * c + t]) < -0.5
    return found


@qd.func
def _deviator(m: vec6) -> vec6:
    return m - (m[0] + m[1] + m[2]) / 3.0 * identity()


@qd.func
def _weight(r: qd.f32, scale: Scale, near: ParticleArrays, i: qd.i32, j: qd.i32) -> qd.f32:
    """g = V_i V_j W'(r)/r, the same for both."""
    slope = slope_over_q(scale.kind, r / (pair_size(scale, near, i, j) * scale.support))
    unit = scale.volume * scale.volume * scale.gradient_scale
    return unit * weight_share(scale, near, i, j) * slope


@qd.func
def _share(r: qd.f32, scale: Scale, near: ParticleArrays, i: qd.i32, j: qd.i32) -> qd.f32:
    """V_j W_ij."""
    w = value(scale.kind, r / (pair_size(scale, near, i, j) * scale.support))
    return scale.volume * scale.value_scale * value_share(scale, near, i, j) * w


@qd.func
def _moment(scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32) -> vec6:
    """M_i, images included."""
    total = vec6(0.0)
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        if not apart(scale, near, i, j):
            x = separation(near.period, near.position[i], near.position[j])
            total -= _weight(x.norm(), scale, near, i, j) * square(x)
    if is_mirrored(scale, near, walls, i):
        for k in range(near.pairs.start[i] - 1, near.pairs.start[i + 1]):
            j = i
            if k >= near.pairs.start[i]:
                j = near.pairs.neighbor[k]
            if is_mirrored(scale, near, walls, j) and not apart(scale, near, i, j):
                for image in range(1, _images(walls, near, j)):
                    x, _turn = _way_to_image(image, near, walls, i, j)
                    total -= _weight(x.norm(), scale, near, i, j) * square(x)
    return total / volume_of(scale, near, i)


@qd.func
def _smoothed(
    field: Vec6s, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32
) -> vec6:
    """Σ_j V_j W_ij of a field of stresses, images included."""
    total = scale.volume * scale.value_scale * scale.own * field[i]
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        if not apart(scale, near, i, j):
            x = separation(near.period, near.position[i], near.position[j])
            total += _share(x.norm(), scale, near, i, j) * field[j]
    if is_mirrored(scale, near, walls, i):
        for k in range(near.pairs.start[i] - 1, near.pairs.start[i + 1]):
            j = i
            if k >= near.pairs.start[i]:
                j = near.pairs.neighbor[k]
            if is_mirrored(scale, near, walls, j) and not apart(scale, near, i, j):
                for image in range(1, _images(walls, near, j)):
                    x, turn = _way_to_image(image, near, walls, i, j)
                    total += _share(x.norm(), scale, near, i, j) * congruence(turn, field[j])
    return total


@qd.func
def _force(field: Vec6s, scale: Scale, near: ParticleArrays, walls: WallArrays, i: qd.i32) -> vec3:
    """Σ_j V_i V_j (T_i + T_j) ∇W_ij of a field of stresses, images included, N."""
    own = field[i]
    force = vec3(0.0)
    for k in range(near.pairs.start[i], near.pairs.start[i + 1]):
        j = near.pairs.neighbor[k]
        if not apart(scale, near, i, j):
            x = separation(near.period, near.position[i], near.position[j])
            force += _weight(x.norm(), scale, near, i, j) * times_vector(own + field[j], x)
    if is_mirrored(scale, near, walls, i):
        for k in range(near.pairs.start[i] - 1, near.pairs.start[i + 1]):
            j = i
            if k >= near.pairs.start[i]:
                j = near.pairs.neighbor[k]
            if is_mirrored(scale, near, walls, j) and not apart(scale, near, i, j):
                for image in range(1, _images(walls, near, j)):
                    x, turn = _way_to_image(image, near, walls, i, j)
                    acting = times_vector(own + congruence(turn, field[j]), x)
                    pushed = _weight(x.norm(), scale, near, i, j) * acting
                    _tell_wall(image, pushed, scale, near, walls, i, j)
                    force += pushed
    return force


@qd.func
def _tell_wall(
    image: qd.i32,
    force: vec3,
    scale: Scale,
    near: ParticleArrays,
    walls: WallArrays,
    i: qd.i32,
    j: qd.i32,
):
    """What an image of j does to particle i, the first of its walls that is tracked gets back."""
    if qd.static(walls.coupled):
        told = False
        c = near.contact[j]
        for s in range(walls.contacts.mirrors[c]):
            slot = walls.bodies.slot[walls.contacts.mirror[3 * c + s]]
            if (image >> s) % 2 == 1 and slot >= 0 and not told:
                told = True
                note_impulse(near.contact[i], slot, walls, scale.dt * scale.dt * force)


@qd.func
def _images(walls: WallArrays, near: ParticleArrays, j: qd.i32) -> qd.i32:
    """One more than the images of particle j: in one, in two and in all of the walls that mirror it."""
    return 1 << walls.contacts.mirrors[near.contact[j]]


@qd.func
def _way_to_image(image: qd.i32, near: ParticleArrays, walls: WallArrays, i: qd.i32, j: qd.i32):
    """(x_i − x_j', R): the way from an image of j to i, and how it is turned; the bits name its walls."""
    x = separation(near.period, near.position[i], near.position[j])
    turn = qd.Matrix.identity(qd.f32, 3)
    c = near.contact[j]
    for s in range(walls.contacts.mirrors[c]):
        if (image >> s) % 2 == 1:
            normal = walls.contacts.mirror_normal[3 * c + s]
            x += 2.0 * walls.contacts.mirror_height[3 * c + s] * normal
            turn = turn - 2.0 * (turn @ normal).outer_product(normal)
    return x, turn
