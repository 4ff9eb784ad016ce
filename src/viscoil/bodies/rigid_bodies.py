"""The rigid bodies of a simulation: their free motion, contacts, and what fluid does to them."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viscoil.bodies import arrays as body_arrays
from viscoil.bodies.contacts import RigidContact, Solid, find_contacts, friction
from viscoil.bodies.impulses import ContactArrays, RigidArrays, resolve
from viscoil.bodies.mass import mass_properties
from viscoil.bodies.state import RigidState
from viscoil.colliders import ColliderSet, Pose
from viscoil.colliders.motion import velocities
from viscoil.colliders.primitives import primitives
from viscoil.colliders.quaternions import Float
from viscoil.compute import view, write
from viscoil.scene import Collider

ITERATIONS = 60  # of sequential impulses
SLOP = 0.02  # of the spacing: overlap that is left alone, so that contacts at rest stay
RECOVERY = 0.2  # share of an overlap that a step undoes


@dataclass(frozen=True)
class ColliderForce:
    """What fluid did to a collider in the last step, on average."""

    collider: int  # index in the scene
    force: tuple[float, float, float]  # N
    torque: tuple[float, float, float]  # N m, about the reference point (of bodies: centre of mass)


class RigidBodies:
    """All dynamic colliders, and the slots of those whose forces are told.

    A step: `begin`, then the solver moves `arrays`, then `finish`.
    """

    def __init__(self, colliders: ColliderSet, spacing: float, report_all: bool = False) -> None:
        self._colliders = colliders
        self._spacing = spacing
        self.states = {
            k: _initial_state(spec, colliders.pose(k, 0.0))
            for k, spec in enumerate(colliders.specs)
            if is_dynamic(spec)
        }
        """Of the dynamic colliders, by their index in the scene."""
        self.slots = [k for k in range(len(colliders.specs)) if report_all or k in self.states]
        """Indices of the colliders whose forces are told."""
        self.forces: list[ColliderForce] = []
        """Of the fluid in the last step, one for each slot."""
        self.arrays = self._make_arrays()
        self._rigid = _allocate(RigidArrays, len(colliders.specs))
        self._contacts = _allocate(ContactArrays, 1)
        self._contact_count = 0
        self._poses: dict[int, Pose] = {}
        self.place()

    def begin(self, time: float, dt: float, gravity: Sequence[float]) -> None:
        """Free motion from `time` (s) on, but out of the way of other colliders."""
        if not self.slots:
            return
        self._write_rigid(time, dt, gravity)
        if self.states:
            self._find_contacts(time, dt, gravity)
            self._resolve()
        self._write_slots(time, dt)

    def finish(self, dt: float) -> None:
        """To the end of the step, with the velocities that the fluid left in `arrays`."""
        if not self.slots:
            return
        self._read_slots()
        self._tell_forces(dt)
        if not self.states:
            return
        self._resolve()
        velocity, turn = view(self._rigid.velocity), view(self._rigid.angular_velocity)
        push, push_turn = view(self._rigid.push), view(self._rigid.push_turn)
        for k, state in self.states.items():
            spin = state.halfway(dt) @ turn[k]
            state.advance(velocity[k] + push[k], turn[k] + push_turn[k], spin, dt)
            state.velocity = np.array(velocity[k])
        self.place()

    def pose(self, index: int, time: float) -> Pose:
        """Of the collider `specs[index]` now if forces move it, else at `time` (s)."""
        state = self.states.get(index)
        return state.pose if state else self._colliders.pose(index, time)

    def place(self) -> None:
        """Puts the colliders of bodies where these are."""
        walls = self._colliders.arrays
        for k, state in self.states.items():
            at = self._colliders.first_primitive(k)
            write(walls.position, [state.pose.position], at)
            write(walls.orientation, [state.orientation], at)

    @property
    def max_speed(self) -> float:
        """Of any point of a body, m/s; infinite if a body is no longer at a finite place."""
        speeds = [
            np.linalg.norm(s.velocity)
            + np.linalg.norm(s.angular_velocity) * extent(self._colliders.specs[k])
            for k, s in self.states.items()
        ]
        fastest = max((float(speed) for speed in speeds), default=0.0)
        return fastest if np.isfinite(self.save()).all() else float("inf")

    def save(self) -> Float:
        """(bodies, 13): position, orientation, velocity and spin, for checkpoints."""
        rows = [
            np.concatenate([s.position, s.orientation, s.velocity, s.spin])
            for s in self.states.values()
        ]
        return np.array(rows, dtype=np.float64).reshape(-1, 13)

    def load(self, rows: Float) -> None:
        """What `save` gave."""
        for state, row in zip(self.states.values(), np.array(rows), strict=True):
            state.position, state.orientation = row[0:3], row[3:7]
            state.velocity, state.spin = row[7:10], row[10:13]
        self.place()

    # How it is done

    def _make_arrays(self) -> Any:
        """The kernels' view, with all that never changes."""
        arrays = body_arrays.allocate(self._colliders.count, len(self.slots))
        slot_of = {k: slot for slot, k in enumerate(self.slots)}
        write(arrays.slot, [slot_of.get(k, -1) for k in self._colliders.owners])
        first = [self._colliders.first_primitive(k) for k in self.slots]
        moved = [k in self.states for k in self.slots]
        write(arrays.primitive, np.where(moved, first, -1) if self.slots else [])
        for slot, k in enumerate(self.slots):
            if k in self.states:
                write(arrays.inverse_mass, [1.0 / self.states[k].properties.mass], slot)
                write(arrays.offset, [-self.states[k].properties.center], slot)
        return arrays

    def _write_rigid(self, time: float, dt: float, gravity: Sequence[float]) -> None:
        """Velocities over the step without fluid and contact."""
        rigid = self._rigid
        for k in range(len(self._colliders.specs)):
            state = self.states.get(k)
            if state is None:
                now, after = self._colliders.pose(k, time), self._colliders.pose(k, time + dt)
                velocity, turn = velocities(now, after, dt)
                center, mass_inverse, inverse = now.position, 0.0, np.zeros((3, 3))
            else:
                inverse = np.linalg.inv(state.halfway(dt))
                velocity = state.velocity + dt * np.asarray(gravity)
                turn, center = inverse @ state.spin, state.position
                mass_inverse = 1.0 / state.properties.mass
            write(rigid.inverse_mass, [mass_inverse], k)
            write(rigid.inverse_inertia, [inverse], k)
            write(rigid.center, [center], k)
            write(rigid.velocity, [velocity], k)
            write(rigid.angular_velocity, [turn], k)
        rigid.push.fill(0.0)
        rigid.push_turn.fill(0.0)

    def _find_contacts(self, time: float, dt: float, gravity: Sequence[float]) -> None:
        specs = self._colliders.specs
        solids = [_solid(spec, self.pose(k, time)) for k, spec in enumerate(specs)]
        velocity, turn = view(self._rigid.velocity), view(self._rigid.angular_velocity)
        reach = []
        for k, solid in enumerate(solids):
            radius = solid.radius if np.isfinite(solid.radius) else 0.0
            speed = np.linalg.norm(velocity[k]) + radius * np.linalg.norm(turn[k])
            # the fluid may speed it up within the step
            reach.append(0.1 * self._spacing + 2.0 * dt * float(speed))
        found = find_contacts(solids, list(self.states), reach)
        self._contact_count = len(found)
        if found:
            self._write_contacts(found, dt, float(np.linalg.norm(gravity)))

    def _write_contacts(self, found: list[RigidContact], dt: float, gravity: float) -> None:
        if self._contacts.first.shape[0] < len(found):
            self._contacts = _allocate(ContactArrays, 2 * len(found))
        contacts, specs = self._contacts, self._colliders.specs
        pairs = [(specs[c.first], specs[c.second]) for c in found]
        overlap = [max(-c.gap - SLOP * self._spacing, 0.0) * RECOVERY / dt for c in found]
        write(contacts.first, [c.first for c in found])
        write(contacts.second, [c.second for c in found])
        write(contacts.point, [c.point for c in found])
        write(contacts.normal, [c.normal for c in found])
        write(contacts.part, [self._parting(c, dt, gravity) for c in found])
        write(contacts.overlap, overlap)
        write(contacts.friction, [friction(a, b) for a, b in pairs])
        for array in (contacts.load, contacts.grip, contacts.pushed):
            array.fill(0.0)

    def _parting(self, c: RigidContact, dt: float, gravity: float) -> float:
        """The least speed at which both may part: that which closes the gap, or a bounce.

        A contact that gravity alone could have closed within two steps is at rest.
        """
        a, b = self._colliders.specs[c.first], self._colliders.specs[c.second]
        bounce = max(getattr(a, "restitution", 0.0), getattr(b, "restitution", 0.0))
        approach = -float(
            (self._speed(c.first, c.point) - self._speed(c.second, c.point)) @ c.normal
        )
        if approach > max(c.gap, 0.0) / dt and approach > 2.0 * gravity * dt:
            return bounce * approach
        return -max(c.gap, 0.0) / dt

    def _speed(self, k: int, point: Float) -> Float:
        r = point - view(self._rigid.center)[k]
        return np.asarray(
            view(self._rigid.velocity)[k] + np.cross(view(self._rigid.angular_velocity)[k], r)
        )

    def _resolve(self) -> None:
        if self._contact_count:
            resolve(self._contact_count, ITERATIONS, self._rigid, self._contacts)

    def _write_slots(self, time: float, dt: float) -> None:
        velocity, turn = view(self._rigid.velocity), view(self._rigid.angular_velocity)
        inverse = view(self._rigid.inverse_inertia)
        arrays = self.arrays
        for slot, k in enumerate(self.slots):
            state = self.states.get(k)
            # what does not yield to forces is where it will be at the end of the step
            pose = state.pose if state else self._colliders.pose(k, time + dt)
            write(arrays.center, [state.position if state else pose.position], slot)
            write(arrays.orientation, [pose.orientation], slot)
            write(arrays.inverse_inertia, [inverse[k]], slot)
            write(arrays.inertia, [state.halfway(dt) if state else np.zeros((3, 3))], slot)
            for array in (arrays.velocity, arrays.free_velocity):
                write(array, [velocity[k]], slot)
            for array in (arrays.angular_velocity, arrays.free_angular_velocity):
                write(array, [turn[k]], slot)
        arrays.impulse.fill(0.0)
        arrays.twist.fill(0.0)

    def _read_slots(self) -> None:
        velocity, turn = view(self.arrays.velocity), view(self.arrays.angular_velocity)
        for slot, k in enumerate(self.slots):
            if k in self.states:
                write(self._rigid.velocity, velocity[slot : slot + 1], k)
                write(self._rigid.angular_velocity, turn[slot : slot + 1], k)

    def _tell_forces(self, dt: float) -> None:
        a = self.arrays
        impulse, twist = np.array(view(a.impulse)), np.array(view(a.twist))
        for slot, k in enumerate(self.slots):
            if k in self.states:
                change = view(a.velocity)[slot] - view(a.free_velocity)[slot]
                impulse[slot] = self.states[k].properties.mass * change
                turn = view(a.angular_velocity)[slot] - view(a.free_angular_velocity)[slot]
                twist[slot] = view(a.inertia)[slot] @ turn
        self.forces = [
            ColliderForce(k, _triple(impulse[slot] / dt), _triple(twist[slot] / dt))
            for slot, k in enumerate(self.slots)
        ]


def is_dynamic(spec: Collider) -> bool:
    return spec.shape != "plane" and spec.dynamic


def extent(spec: Collider) -> float:
    """Radius (m) of the ball about the reference point that holds the collider."""
    match spec.shape:
        case "plane":
            return float("inf")
        case "box":
            return float("inf") if spec.container else 0.5 * float(np.linalg.norm(spec.size))
        case "sphere":
            return spec.radius
        case "cylinder":
            return float(np.hypot(spec.radius, 0.5 * spec.height))
        case "capsule":
            return spec.radius + 0.5 * float(np.linalg.norm(np.subtract(spec.end, spec.start)))


def _initial_state(spec: Collider, pose: Pose) -> RigidState:
    assert spec.shape != "plane"
    properties = mass_properties(spec)
    turn = np.array(spec.angular_velocity, dtype=np.float64)
    state = RigidState(
        properties, pose.to_world(properties.center), np.array(pose.orientation),
        np.array(spec.velocity, dtype=np.float64), np.zeros(3),
    )  # fmt: skip
    state.spin = state.inertia() @ turn
    return state


def _solid(spec: Collider, pose: Pose) -> Solid:
    parts = [part._replace(pose=pose.then(part.pose)) for part in primitives(spec)]
    return Solid(spec, parts, pose.position, extent(spec))


def _allocate(kind: Any, count: int) -> Any:
    return kind(**{f.name: body_arrays.array(f.type, count) for f in dataclasses.fields(kind)})


def _triple(values: Float) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
