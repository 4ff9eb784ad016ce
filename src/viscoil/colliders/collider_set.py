"""All colliders of a scene: where they are, and the arrays that kernels read."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from viscoil.colliders.motion import Pose, velocities
from viscoil.colliders.primitives import Contact, Primitive, distance, pose, primitives
from viscoil.geometry import quaternions
from viscoil.geometry.quaternions import Float
from viscoil.scene import Collider, MeshCollider, Scene

if TYPE_CHECKING:
    from viscoil.colliders.arrays import ColliderArrays
    from viscoil.colliders.mesh_shapes import Shape
    from viscoil.geometry.bricks.brick_field import BrickField

# Where the plane lies that fills the arrays of an empty set, m: so far down that none can touch it.
_NOWHERE = -1e30


class ColliderSet:
    """The colliders of a scene, split into primitives and meshes.

    The compute backend is needed only once `arrays` is asked for or a mesh is in the scene, so
    others can be checked and seeded without it.
    """

    def __init__(
        self, specs: Sequence[Collider], spacing: float = 1.0, wall_reach: float | None = None
    ) -> None:
        """`spacing` (m) is the scene's; `wall_reach` (m) is how far walls act on particles."""
        self.specs = tuple(specs)
        wall_reach = 2.0 * spacing if wall_reach is None else wall_reach
        self._groups = [(spec, primitives(spec)) for spec in self.specs]
        self._parts = [(spec, part) for spec, parts in self._groups for part in parts]
        self.count = len(self._parts)
        """Number of primitives; the arrays hold at least one entry even when this is 0."""
        self.meshes = {
            k: _shape(spec, spacing, wall_reach)
            for k, spec in enumerate(self.specs)
            if spec.shape == "mesh"
        }
        """Mesh colliders by their place among the specs."""
        self._deforming = any(mesh.animated for mesh in self.meshes.values())
        self.moving = self._deforming or any(spec.motion for spec in self.specs)
        """Whether any collider has keyframes or is an animated mesh."""
        self._fields: list[BrickField] = []
        self._deforming_speed = 0.0  # of vertices in the last step, m/s
        self.owners = [k for k, (_, parts) in enumerate(self._groups) for _ in parts]
        """For each primitive, the index in `specs` of the collider that it is part of."""

    @classmethod
    def of(cls, scene: Scene) -> "ColliderSet":
        """The colliders of a scene."""
        wall_reach = scene.solver.support * max(scene.spacings)
        return cls(scene.colliders, scene.simulation.spacing, wall_reach)

    @cached_property
    def arrays(self) -> "ColliderArrays":
        """The kernels' view, at rest at time 0 until `move_to` is called."""
        from viscoil.colliders.arrays import allocate
        from viscoil.core.compute import write

        arrays = allocate(self.count)
        write(arrays.kind, [part.kind for _, part in self._parts])
        write(arrays.params, [part.params for _, part in self._parts])
        write(arrays.contact, [Contact[spec.contact.upper()] for spec, _ in self._parts])
        write(arrays.friction, [spec.friction for spec, _ in self._parts])
        write(arrays.moves, [int(self._moves(spec)) for spec, _ in self._parts])
        write(arrays.distance_field, [self._field_index(spec) for spec, _ in self._parts])
        # Adhesion has no reaction on the wall, so on a dynamic body it would create momentum: it is off.
        held = [not getattr(spec, "dynamic", False) for spec, _ in self._parts]
        sticks = [spec.adhesion for spec, _ in self._parts]
        write(arrays.adhesion, [a if h else 0.0 for a, h in zip(sticks, held, strict=True)])
        self._place(arrays, 0.0, 0.0)
        self._pack(arrays, 0.0, 0.0)
        return arrays

    @property
    def part_specs(self) -> list[Collider]:
        """The collider that each primitive is a part of."""
        return [spec for spec, _ in self._parts]

    def move_to(self, time: float, dt: float) -> None:
        """Put the arrays at the poses of `time` (s) and at the mean velocities since time - dt.

        With dt = 0 the velocities are zero.
        """
        if self.moving:
            self._place(self.arrays, time, dt)
        if self._deforming:
            self._pack(self.arrays, time, dt)

    def pose(self, index: int, time: float) -> Pose:
        """The pose at `time` (s) of the collider `specs[index]`; see `primitives.rest_pose`."""
        return pose(self.specs[index], time)

    def solid(self, index: int, at: Pose) -> list[Primitive]:
        """The primitives of the collider `specs[index]`, with world poses if it stands at `at`."""
        parts = [part._replace(pose=at.then(part.pose)) for part in self._groups[index][1]]
        if index not in self.meshes:
            return parts
        field, points = self.field(index), self.meshes[index].points
        return [part._replace(distance_field=field, points=points) for part in parts]

    def field(self, index: int) -> "BrickField | None":
        """The distance field of the collider `specs[index]` after the last move, if it is a mesh."""
        return self._fields[list(self.meshes).index(index)] if index in self.meshes else None

    def max_speed(self, time: float, ahead: float) -> float:
        """Largest speed (m/s) of reference points `ahead` (s), and of vertices in the last step."""
        moving = [spec for spec in self.specs if spec.motion]
        ways = [pose(s, time + ahead).position - pose(s, time).position for s in moving]
        speeds = [float(np.linalg.norm(way)) / ahead for way in ways]
        return max([self._deforming_speed, *speeds])

    def first_primitive(self, index: int) -> int:
        """Where the primitives of the collider `specs[index]` begin in the arrays."""
        return self.owners.index(index)

    def distance(self, points: NDArray[Any], time: float) -> Float:
        """Signed distance (n,) in m of points (n, 3) to the nearest collider; inf without any.

        Of meshes it is known within their bands, and ± the band beyond.
        """
        result = np.full(len(points), np.inf)
        for k, spec in enumerate(self.specs):
            if spec.shape == "mesh":
                at = self.pose(k, time)
                body = at.to_body(np.asarray(points, dtype=np.float64))
                known = at.scale * self.meshes[k].distance_field(time, 0.0).sample(body)
            else:
                known = distance(spec, points, time)
            result = np.minimum(result, known)
        return result

    def _moves(self, spec: Collider) -> bool:
        return bool(spec.motion) or (self._field_index(spec) >= 0 and self._shape_of(spec).animated)

    def _shape_of(self, spec: Collider) -> "Shape":
        return self.meshes[self.specs.index(spec)]

    def _field_index(self, spec: Collider) -> int:
        """The place of a mesh's distance field among all fields; -1 of other colliders."""
        if spec.shape != "mesh":
            return -1
        return list(self.meshes).index(self.specs.index(spec))

    def _place(self, arrays: "ColliderArrays", time: float, dt: float) -> None:
        from viscoil.core.compute import write

        after = self._poses(time)
        before = self._poses(time - dt) if dt > 0.0 else after
        rates = [velocities(a, b, dt or 1.0) for a, b in zip(before, after, strict=True)]
        write(arrays.position, [pose.position for pose in after])
        write(arrays.orientation, [pose.orientation for pose in after])
        write(arrays.scale, [pose.scale for pose in after])
        write(arrays.position_before, [pose.position for pose in before])
        write(arrays.orientation_before, [pose.orientation for pose in before])
        write(arrays.scale_before, [pose.scale for pose in before])
        write(arrays.velocity, [rate.velocity for rate in rates])
        write(arrays.angular_velocity, [rate.angular_velocity for rate in rates])
        write(arrays.growth, [rate.growth for rate in rates])

    def _pack(self, arrays: "ColliderArrays", time: float, dt: float) -> None:
        """The distance fields of all meshes."""
        from viscoil.geometry.bricks.arrays import pack_bricks

        self._fields = [mesh.distance_field(time, dt) for mesh in self.meshes.values()]
        arrays.bricks = pack_bricks(self._fields)
        velocities = [f.secondary["velocity"] for f in self._fields if "velocity" in f.secondary]
        self._deforming_speed = max([0.0, *(float(np.abs(v).max()) for v in velocities)])

    def _poses(self, time: float) -> list[Pose]:
        """The world poses of all primitives."""
        if not self._parts:
            return [Pose(np.array([0.0, _NOWHERE, 0.0]), quaternions.IDENTITY)]
        wholes = [(pose(spec, time), parts) for spec, parts in self._groups]
        return [whole.then(part.pose) for whole, parts in wholes for part in parts]


def _shape(spec: MeshCollider, spacing: float, wall_reach: float) -> "Shape":
    from viscoil.colliders.mesh_shapes import shape

    return shape(spec, spacing, wall_reach)
