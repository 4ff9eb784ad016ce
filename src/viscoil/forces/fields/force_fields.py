# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""The force fields of a simulation: when they act, how strongly, and the loop over particles."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import quadrants as qd

from viscoil.core.compute import Floats, Vec3s, scalars, vec3, write
from viscoil.forces.drive import Drive
from viscoil.forces.exposure import Exposure
from viscoil.forces.fields.laws import box_share, pull, resisted, sphere_share, whirl
from viscoil.forces.fields.noise import blend, curl_noise, salt
from viscoil.forces.fields.table import FieldTable, Kind, Where, make_table, spin_rate
from viscoil.forces.protocol import Force, StepView
from viscoil.neighbors.arrays import ParticleArrays
from viscoil.scene import Field
from viscoil.scene.activity import overlap

# How much stronger than its root mean square noise is taken to be when a time step is chosen.
NOISE_PEAK = 3.0


@qd.func
def _share(table: FieldTable, f: qd.i32, x: vec3) -> qd.f32:
    """How much of the field's effect arrives at x."""
    r = x - table.region_center[f]
    share = 1.0
    if table.where[f] == Where.BOX:
        share = box_share(r, table.region_half[f], table.region_edge[f])
    elif table.where[f] == Where.SPHERE:
        share = sphere_share(r, table.region_half[f][0], table.region_edge[f])
    return share


@qd.func
def _velocity(table: FieldTable, f: qd.i32, x: vec3) -> vec3:
    """w: what the fluid is dragged to."""
    w = vec3(0.0)
    if table.kind[f] == Kind.WIND:
        w = table.vector[f]
    elif table.kind[f] == Kind.SPIN:
        w = table.amount[f] * whirl(x - table.center[f], table.vector[f], table.radius[f])
    return w


@qd.func
def _noise(table: FieldTable, f: qd.i32, x: vec3) -> vec3:
    place = (x - table.center[f]) / table.radius[f]
    a = table.weight_now[f] * curl_noise(place, table.salt_now[f])
    if table.weight_next[f] > 0.0:
        a += table.weight_next[f] * curl_noise(place, table.salt_next[f])
    return a


@qd.func
def _acceleration(table: FieldTable, f: qd.i32, x: vec3) -> vec3:
    """a: what acts whatever the velocity, m/s²."""
    a = vec3(0.0)
    kind = table.kind[f]
    if kind == Kind.UNIFORM:
        a = table.vector[f]
    elif kind == Kind.SWIRL:
        a = table.amount[f] * whirl(x - table.center[f], table.vector[f], table.radius[f])
    elif kind == Kind.ATTRACTOR:
        a = table.amount[f] * pull(x - table.center[f], table.radius[f], table.falloff[f])
    elif kind == Kind.NOISE:
        a = table.amount[f] * _noise(table, f, x)
    return a


@qd.kernel(fastcache=True)
def _act(
    n: qd.i32,
    fields: qd.i32,
    materials: qd.i32,
    dt: qd.f32,
    gx: qd.f32,
    gy: qd.f32,
    gz: qd.f32,
    table: FieldTable,
    near: ParticleArrays,
    exposure: Floats,
    velocity: Vec3s,
):
    """u* ← u⁰ + Δt (g + a + Σ k (w − u*) − q |u*| u*)."""
    for i in range(n):
        x = near.position[i]
        a = qd.Vector([gx, gy, gz])
        damping = 0.0
        quadratic = 0.0
        for f in range(fields):
            share = table.share[f] * table.acts_on[f * materials + near.material[i]]
            if share > 0.0:
                share *= _share(table, f, x)
            if share > 0.0 and table.at_surface[f] == 1:
                share *= qd.min(exposure[i], 1.0)
            if share > 0.0:
                k = table.rate[f]
                a += share * (_acceleration(table, f, x) + k * _velocity(table, f, x))
                damping += dt * share * k
                quadratic += dt * share * table.quadratic[f]
        velocity[i] = resisted(velocity[i] + dt * a, damping, quadratic)


@qd.kernel(fastcache=True)
def _accelerate(n: qd.i32, dt: qd.f32, gx: qd.f32, gy: qd.f32, gz: qd.f32, velocity: Vec3s):
    """u* ← u⁰ + Δt g."""
    for i in range(n):
        velocity[i] = velocity[i] + dt * qd.Vector([gx, gy, gz])


class ForceFields(Force):
    """Gravity, and the fields of a scene, on the velocities at the start of a step.

    A field that begins or ends within the step acts for its share of it: the same impulse for any
    time step.
    """

    name: ClassVar[str] = "fields"

    def __init__(
        self, fields: Sequence[Field], materials: Sequence[str], exposure: Exposure
    ) -> None:
        """`materials` are the names of the scene's; fields may act on some of them."""
        self.fields = tuple(fields)
        self._materials = len(materials)
        self._table = make_table(self.fields, materials)
        self._exposure = exposure
        self._unexposed: Any = scalars(qd.f32, 1)
        self._shares: list[float] = []

    def act(self, step: StepView, velocity: Any) -> None:
        """u* ← what gravity and the fields make of u⁰."""
        dt = step.scale.dt
        if not self._prepare(step.time, dt):
            _accelerate(step.n, dt, *step.gravity, velocity)
            return
        exposure = self._exposure(step) if self._surface_matters() else self._unexposed
        _act(
            step.n, len(self.fields), self._materials, dt, *step.gravity, self._table, step.near,
            exposure, velocity,
        )  # fmt: skip

    def _prepare(self, time: float, dt: float) -> bool:
        """Makes the table ready for the step from `time` on; whether any field acts in it."""
        self._shares = [overlap(field.start, field.stop, time, dt) for field in self.fields]
        if not any(self._shares):
            return False
        write(self._table.share, self._shares)
        for k, field in enumerate(self.fields):
            if field.type == "noise" and self._shares[k]:
                self._set_noise(k, field, time)
        return True

    def drive(self, time: float, longest: float) -> Drive:
        """What fields can do to a particle at most within the longest step from `time` on."""
        active = [
            field for field in self.fields if overlap(field.start, field.stop, time, longest) > 0.0
        ]
        winds = [_wind(field) for field in active]
        return Drive(
            acceleration=sum(_strength(field) for field in active),
            drag=sum(rate * speed for rate, speed in winds),
            wind=max((speed for _, speed in winds), default=0.0),
        )

    def _surface_matters(self) -> bool:
        pairs = zip(self.fields, self._shares, strict=True)
        return any(share and field.type == "wind" and field.surface_only for field, share in pairs)

    def _set_noise(self, k: int, field: Any, time: float) -> None:
        picture, phase = 0, 0.0
        if field.time_scale is not None:
            picture = math.floor(time / field.time_scale)
            phase = time / field.time_scale - picture
        now, following = blend(phase)
        write(self._table.center, [[v * time for v in field.velocity]], k)
        write(self._table.salt_now, [salt(field.seed, picture)], k)
        write(self._table.salt_next, [salt(field.seed, picture + 1)], k)
        write(self._table.weight_now, [now], k)
        write(self._table.weight_next, [following], k)


def _strength(field: Field) -> float:
    """The largest acceleration that does not depend on the velocity, m/s²."""
    match field.type:
        case "uniform":
            return math.hypot(*field.acceleration)
        case "noise":
            return NOISE_PEAK * field.amplitude
        case "attractor":
            return abs(field.strength)
        case "vortex":
            return abs(field.strength or 0.0)
        case _:
            return 0.0


def _wind(field: Field) -> tuple[float, float]:
    """Rate (1/s) and largest speed (m/s) of what the fluid is dragged to."""
    match field.type:
        case "wind":
            return field.rate, math.hypot(*field.velocity)
        case "vortex":
            return spin_rate(field), 0.5 * field.radius * abs(field.angular_speed or 0.0)
        case _:
            return 0.0, 0.0
