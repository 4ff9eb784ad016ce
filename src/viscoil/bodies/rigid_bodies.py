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
from viscoil.core.compute import view, write
from viscoil.geometry.quaternions import Float
from viscoil.geometry.solid_mesh import solid_mesh
from viscoil.scene import Collider

# Of sequential impulses. An impulse passes one body in each, so that stacks of many boxes are soft.
ITERATIONS = 60
SLOP = 0.02  # of the spacing: overlap that is left alone, so that contacts at rest stay
RECOVERY = 0.2  # share of an overlap that a step undoes; Catto (2005) takes 0.1 to 0.3
MARGIN = 0.1  # of the spacing: gaps up to which bodies at rest have contacts; must exceed SLOP


@dataclass(frozen=True)
class ColliderForce:
    """Mean force and torque of the fluid on a collider over the last step."""

    collider: int  # index in the scene
    force: tuple[float, float, float]  # N
    torque: tuple[float, float, float]  # N m, about the reference point (of bodies: centre of mass)


class RigidBodies:
    """All dynamic colliders, and slots for all colliders whose forces are reported.

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
        """Indices of the colliders whose forces are reported."""
        self.forces: list[ColliderForce] = []
        """Of the fluid in the last step, one for each slot."""
        self.arrays = self._make_arrays()
        self._rigid = _allocate(RigidArrays, len(colliders.specs))
        self._contacts = _allocate(ContactArrays, 1)
        self._contact_count = 0
        self._motion = _Motion(len(colliders.specs))
        self.place()

    def begin(self, time: float, dt: float, gravity: Sequence[float]) -> None:
        """Velocities over the step from `time` (s) on: free motion and contacts, without fluid."""
        if not self.slots:
            return
        self.place()  # `ColliderSet.move_to` has written the scene's poses, for bodies too
        self._motion = self._free_motion(time, dt, gravity)
        if self.states:
            self._find_contacts(time, dt, float(np.linalg.norm(gravity)))
            self._resolve()
        self._write_slots(time, dt)

    def finish(self, dt: float) -> None:
        """Moves bodies to the end of the step, with the velocities that the fluid left in `arrays`."""
        if not self.slots:
            return
        self._read_slots(dt)
        if not self.states:
            return
        self._resolve()
        motion = self._motion
        for k, state in self.states.items():
            spin = motion.inertia[k] @ motion.turn[k]
            state.advance(
                motion.velocity[k] + motion.push[k], motion.turn[k] + motion.push_turn[k], spin, dt
            )
            state.velocity = motion.velocity[k].copy()
        self.place()

    def pose(self, index: int, time: float) -> Pose:
        """Of the collider `specs[index]` now if forces move it, else at `time` (s)."""
        state = self.states.get(index)
        return state.pose if state else self._colliders.pose(index, time)

    def place(self) -> None:
        """Writes the poses of bodies into the arrays of their colliders."""
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

    def _free_motion(self, time: float, dt: float, gravity: Sequence[float]) -> "_Motion":
        """Velocities over the step without fluid and contact."""
        motion = _Motion(len(self._colliders.specs))
        for k in range(len(self._colliders.specs)):
            state = self.states.get(k)
            if state is None:
                now, after = self._colliders.pose(k, time), self._colliders.pose(k, time + dt)
                motion.velocity[k], motion.turn[k], _growth = velocities(now, after, dt)
                motion.center[k] = now.position
            else:
                motion.inertia[k] = state.halfway(dt)
                motion.inverse_inertia[k] = np.linalg.inv(motion.inertia[k])
                motion.inverse_mass[k] = 1.0 / state.properties.mass
                motion.velocity[k] = state.velocity + dt * np.asarray(gravity)
                motion.turn[k] = motion.inverse_inertia[k] @ state.spin
                motion.center[k] = state.position
        return motion

    def _solid(self, k: int, pose: Pose) -> Solid:
        spec = self._colliders.specs[k]
        return Solid(spec, self._colliders.solid(k, pose), pose.position, extent(spec))

    def _find_contacts(self, time: float, dt: float, gravity: float) -> None:
        specs, motion = self._colliders.specs, self._motion
        solids = [self._solid(k, self.pose(k, time)) for k in range(len(specs))]
        radii = [solid.radius if np.isfinite(solid.radius) else 0.0 for solid in solids]
        speeds = np.linalg.norm(motion.velocity, axis=1)
        speeds += radii * np.linalg.norm(motion.turn, axis=1)
        # twice the free motion, because fluid may speed a body up within the step
        reach = MARGIN * self._spacing + 2.0 * dt * speeds
        found = find_contacts(solids, list(self.states), reach.tolist())
        self._contact_count = len(found)
        if found:
            self._write_contacts(found, dt, gravity)

    def _write_contacts(self, found: list[RigidContact], dt: float, gravity: float) -> None:
        if self._contacts.first.shape[0] < len(found):
            self._contacts = _allocate(ContactArrays, 2 * len(found))
        contacts, specs = self._contacts, self._colliders.specs
        recovery = [max(-c.gap - SLOP * self._spacing, 0.0) * RECOVERY / dt for c in found]
        write(contacts.first, [c.first for c in found])
        write(contacts.second, [c.second for c in found])
        write(contacts.point, [c.point for c in found])
        write(contacts.normal, [c.normal for c in found])
        write(contacts.parting_speed, self._parting(found, dt, gravity))
        write(contacts.recovery_speed, recovery)
        write(contacts.friction, [friction(specs[c.first], specs[c.second]) for c in found])
        write(contacts.normal_impulse, np.zeros(len(found)))
        write(contacts.friction_impulse, np.zeros((len(found), 3)))
        write(contacts.push_impulse, np.zeros(len(found)))

    def _parting(self, found: list[RigidContact], dt: float, gravity: float) -> Float:
        """The least normal speed (m/s) after the step: that which closes the gap, or a bounce.

        Contacts that approach more slowly than gravity alone does in two steps do not bounce.
        """
        normal, gap = np.array([c.normal for c in found]), np.array([c.gap for c in found])
        point = np.array([c.point for c in found])
        first, second = [c.first for c in found], [c.second for c in found]
        slip = self._motion.speed(first, point) - self._motion.speed(second, point)
        approach = -np.einsum("ca,ca->c", slip, normal)
        kept = np.array([getattr(spec, "restitution", 0.0) for spec in self._colliders.specs])
        bounce = np.maximum(kept[first], kept[second])
        closing = np.maximum(gap, 0.0) / dt
        hits = (approach > closing) & (approach > 2.0 * gravity * dt)
        return np.asarray(np.where(hits, bounce * approach, -closing))

    def _resolve(self) -> None:
        """Applies contact impulses to `_motion`; those given before in the step may be taken back."""
        if not self._contact_count:
            return
        rigid, motion = self._rigid, self._motion
        changing = {
            "velocity": motion.velocity,
            "angular_velocity": motion.turn,
            "push": motion.push,
            "push_turn": motion.push_turn,
        }
        for name in ("inverse_mass", "inverse_inertia", "center"):
            write(getattr(rigid, name), getattr(motion, name))
        for name, values in changing.items():
            write(getattr(rigid, name), values)
        resolve(self._contact_count, ITERATIONS, rigid, self._contacts)
        for name, values in changing.items():
            values[:] = view(getattr(rigid, name))

    def _write_slots(self, time: float, dt: float) -> None:
        arrays, motion, chosen = self.arrays, self._motion, self.slots
        # fixed and keyframed colliders have the pose of the end of the step
        poses = [self.pose(k, time + dt) for k in chosen]
        centers = [
            motion.center[k] if k in self.states else pose.position
            for k, pose in zip(chosen, poses, strict=True)
        ]
        write(arrays.center, centers)
        write(arrays.orientation, [pose.orientation for pose in poses])
        write(arrays.inertia, motion.inertia[chosen])
        write(arrays.inverse_inertia, motion.inverse_inertia[chosen])
        for array in (arrays.velocity, arrays.free_velocity):
            write(array, motion.velocity[chosen])
        for array in (arrays.angular_velocity, arrays.free_angular_velocity):
            write(array, motion.turn[chosen])
        write(arrays.impulse, np.zeros((len(chosen), 3)))
        write(arrays.twist, np.zeros((len(chosen), 3)))

    def _read_slots(self, dt: float) -> None:
        """What the fluid did: velocities, and the forces of all slots."""
        a, motion, count = self.arrays, self._motion, len(self.slots)
        impulse, twist = np.array(view(a.impulse, count)), np.array(view(a.twist, count))
        velocity, turn = view(a.velocity, count), view(a.angular_velocity, count)
        for slot, k in enumerate(self.slots):
            if k not in self.states:
                continue
            mass = self.states[k].properties.mass
            impulse[slot] = mass * (velocity[slot] - motion.velocity[k])
            twist[slot] = motion.inertia[k] @ (turn[slot] - motion.turn[k])
            motion.velocity[k], motion.turn[k] = velocity[slot], turn[slot]
        self.forces = [
            ColliderForce(k, _triple(impulse[slot] / dt), _triple(twist[slot] / dt))
            for slot, k in enumerate(self.slots)
        ]


class _Motion:
    """How the colliders move in the present step; rows in the order of the scene."""

    def __init__(self, count: int) -> None:
        self.inverse_mass = np.zeros(count)  # 1/kg; 0 for those that forces do not move
        self.inertia = np.zeros((count, 3, 3))  # kg m², halfway through the step
        self.inverse_inertia = np.zeros((count, 3, 3))
        self.center = np.zeros((count, 3))  # m, at the start of the step
        self.velocity = np.zeros((count, 3))  # m/s
        self.turn = np.zeros((count, 3))  # angular velocity, rad/s
        self.push = np.zeros((count, 3))  # m/s: undoes overlap and is forgotten
        self.push_turn = np.zeros((count, 3))  # rad/s

    def speed(self, colliders: Sequence[int], points: Float) -> Float:
        """Velocities (n, 3) in m/s of colliders (n,) at points (n, 3)."""
        arms = points - self.center[colliders]
        return np.asarray(self.velocity[colliders] + np.cross(self.turn[colliders], arms))


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
        case "mesh":
            return solid_mesh(spec.file, spec.scale).radius if spec.dynamic else float("inf")


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


def _allocate(kind: Any, count: int) -> Any:
    return kind(**{f.name: body_arrays.array(f.type, count) for f in dataclasses.fields(kind)})


def _triple(values: Float) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
