# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Periodic axes: positions live in [0, length), and separations take the nearest image."""

import dataclasses

import quadrants as qd

from viscoil.core.compute import COMPILED_IN, Vec3s, vec3


@dataclasses.dataclass
class Period:
    """Length of each axis after which space repeats, m; 0 where it does not."""

    x: qd.f32
    y: qd.f32
    z: qd.f32
    repeats: qd.template() = dataclasses.field(
        default=False, metadata=COMPILED_IN
    )  # whether any axis does


def make_period(lengths: tuple[float, float, float]) -> Period:
    """Of the lengths of the axes, m; 0 is open."""
    return Period(*lengths, repeats=any(length > 0.0 for length in lengths))


@qd.func
def _nearest_image(apart: qd.f32, length: qd.f32) -> qd.f32:
    image = apart
    if length > 0.0:
        image -= length * qd.round(apart / length)
    return image


@qd.func
def separation(period: Period, xi: vec3, xj: vec3):
    """x_i − x_j, through the nearest image along periodic axes."""
    apart = xi - xj
    if qd.static(period.repeats):
        apart[0] = _nearest_image(apart[0], period.x)
        apart[1] = _nearest_image(apart[1], period.y)
        apart[2] = _nearest_image(apart[2], period.z)
    return apart


@qd.func
def _wrap(coordinate: qd.f32, length: qd.f32) -> qd.f32:
    wrapped = coordinate
    if length > 0.0:
        if coordinate < 0.0 or coordinate >= length:
            wrapped = qd.max(coordinate - length * qd.floor(coordinate / length), 0.0)
        # a hair before the end, where rounding cannot put it into the cell after the last
        last = 0.9999996 * length
        if wrapped > last:
            wrapped = last
    return wrapped


@qd.kernel(fastcache=True)
def wrap_positions(n: qd.i32, period: Period, position: Vec3s):
    """Brings particles that left a periodic axis at one end back in at the other."""
    for i in range(n):
        x = position[i]
        position[i] = qd.Vector(
            [_wrap(x[0], period.x), _wrap(x[1], period.y), _wrap(x[2], period.z)]
        )
