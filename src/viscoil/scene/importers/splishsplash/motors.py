"""Motors that turn a body about a hinge, as keyframes."""

import math
from itertools import pairwise
from typing import Any

from viscoil.scene.importers.geometry import Vector
from viscoil.scene.importers.splishsplash.bodies import Body
from viscoil.scene.importers.splishsplash.document import Section
from viscoil.scene.importers.splishsplash.files import turned

HINGES = "TargetVelocityMotorHingeJoints"
_INTERVAL = 0.05  # s, between keyframes of a speed that changes
_MOST_KEYFRAMES = 2000
_ON_AXIS = 1e-6  # m


def apply_motor(section: Section, bodies: list[Body], duration: float) -> None:
    """Gives keyframes to the free one of the two bodies that a motor joins."""
    ids = section.whole("bodyID1", -1), section.whole("bodyID2", -1)
    joined = [body for body in bodies if body.id in ids and body.table.get("dynamic")]
    axis = section.vector("axis", (0.0, 1.0, 0.0))
    pivot = section.vector("position", (0.0, 0.0, 0.0))
    speeds = _speeds(section)
    repeat = section.switch("repeatSequence")
    section.finish()
    if len(joined) != 1 or not any(axis):
        section.losses.add(section.place, "joins no body to one that stands still; it was left out")
        return
    body = joined[0]
    for key in ("dynamic", "density", "velocity", "angular_velocity", "restitution"):
        body.table.pop(key, None)
    times = _times(speeds, duration, _is_off_axis(body.origin, pivot, axis))
    body.table["motion"] = [
        _keyframe(body, pivot, axis, time, _angle(speeds, repeat, time)) for time in times
    ]
    section.losses.add(section.place, "turns the body at its speed, whatever resists")


def _speeds(section: Section) -> list[tuple[float, float]]:
    """Times (s) and speeds (rad/s), linear in between."""
    numbers = section.numbers("targetSequence")
    if len(numbers) >= 4:
        return sorted(zip(numbers[::2], numbers[1::2], strict=False))
    return [(0.0, section.number("target", 0.0))]


def _times(speeds: list[tuple[float, float]], duration: float, off_axis: bool) -> list[float]:
    if len(speeds) == 1 and not off_axis:
        return [0.0, duration]
    fastest = max(abs(speed) for _, speed in speeds)
    interval = min(_INTERVAL, 0.1 / max(fastest, 1e-9)) if off_axis else _INTERVAL
    count = min(math.ceil(duration / interval), _MOST_KEYFRAMES)
    return [round(i * duration / count, 9) for i in range(count + 1)]


def _angle(speeds: list[tuple[float, float]], repeat: bool, time: float) -> float:
    """The turn (rad) by `time` (s): the integral of the speed."""
    if len(speeds) == 1:
        return speeds[0][1] * time
    start, end = speeds[0][0], speeds[-1][0]
    whole = 0.0
    if repeat and end > start and time > end:
        rounds = math.floor((time - start) / (end - start))
        whole = rounds * (_integral(speeds, end) - _integral(speeds, start))
        time -= rounds * (end - start)
    return whole + _integral(speeds, time)


def _integral(speeds: list[tuple[float, float]], time: float) -> float:
    """Of the speed from 0 to `time`; the first and the last speed are held beyond the ends."""
    total = speeds[0][1] * min(time, speeds[0][0])
    for (t0, v0), (t1, v1) in pairwise(speeds):
        span = min(time, t1) - t0
        if span > 0.0 and t1 > t0:
            total += span * (v0 + 0.5 * (v1 - v0) * span / (t1 - t0))
    return total + speeds[-1][1] * max(time - speeds[-1][0], 0.0)


def _is_off_axis(origin: Vector, pivot: Vector, axis: Vector) -> bool:
    quarter = turned(_minus(origin, pivot), axis, 0.5 * math.pi)
    half = turned(_minus(origin, pivot), axis, math.pi)
    return max(abs(a - b) for a, b in zip(quarter, half, strict=True)) > _ON_AXIS


def _keyframe(body: Body, pivot: Vector, axis: Vector, time: float, angle: float) -> dict[str, Any]:
    arm = _minus(body.origin, pivot)
    shift = _minus(turned(arm, axis, angle), arm)
    table: dict[str, Any] = {"time": time, "rotation": {"axis": list(axis), "angle": angle}}
    if max(map(abs, shift)) > _ON_AXIS:
        table["translation"] = list(shift)
    return table


def _minus(a: Vector, b: Vector) -> Vector:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]
