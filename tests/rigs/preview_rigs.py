"""What the preview is shown, and how its parts are asked."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from viscoil.preview import Camera, render
from viscoil.scene import (
    BoxCollider,
    CapsuleCollider,
    Collider,
    CylinderCollider,
    PlaneCollider,
    Rotation,
    SphereCollider,
)
from viscoil.snapshots.snapshot import Array, ColliderPose, MaterialLook, Snapshot

D = 0.1  # particle spacing of most tests, m
RED = MaterialLook("red", (0.8, 0.05, 0.05), 0.0)
BLUE = MaterialLook("blue", (0.05, 0.1, 0.8), 0.0)
FRONT = Camera((0.0, 0.5, 6.0), (0.0, 0.5, 0.0), 0.5, 1.0)
GROUND = PlaneCollider(shape="plane", point=(0.0, 0.0, 0.0), normal=(0.0, 1.0, 0.0))
SCENE = """
[simulation]
spacing = 0.05
duration = 1.0
[[fluids]]
material = "water"
shape = "box"
center = [0.0, 3.0, 0.0]
size = [1.0, 1.0, 1.0]
"""

TURN = Rotation(axis=(1.0, 2.0, 0.5), angle=0.7)
SOLIDS = [
    BoxCollider(center=(0.1, 0.2, 0.0), size=(0.6, 0.3, 0.9), rotation=TURN),
    SphereCollider(center=(0.1, -0.2, 0.3), radius=0.5),
    CylinderCollider(center=(0.0, 0.1, 0.0), radius=0.4, height=0.7, rotation=TURN),
    CapsuleCollider(start=(-0.3, 0.0, 0.1), end=(0.4, 0.3, -0.2), radius=0.25),
    PlaneCollider(point=(0.0, -0.1, 0.0), normal=(0.2, 1.0, -0.3)),
]


def cube(center: ArrayLike, side: float, spacing: float = D) -> Array:
    axis = (np.arange(round(side / spacing)) + 0.5) * spacing - side / 2
    grid = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(grid + np.asarray(center), np.float32)


def pose(spec: Collider) -> ColliderPose:
    from viscoil.colliders.primitives import rest_pose

    return ColliderPose(spec, *rest_pose(spec))


def snap(
    position: ArrayLike,
    looks: Sequence[MaterialLook] = (RED,),
    material: Array | None = None,
    colliders: Sequence[Collider] = (),
) -> Snapshot:
    x = np.asarray(position, dtype=np.float32)
    material = np.zeros(len(x), dtype=np.int32) if material is None else material
    channels = {"position": x, "material": material}
    return Snapshot(0, 0.0, channels, looks, [pose(spec) for spec in colliders], D)


def draw(snapshot: Snapshot, camera: Camera = FRONT, width: int = 96, height: int = 54) -> Array:
    picture = render(snapshot, camera, width, height)
    assert picture.shape == (height, width, 3)
    assert picture.dtype == np.uint8
    return picture.astype(int)


def redness(picture: Array) -> Array:
    return np.asarray(picture[..., 0] - picture[..., 2])


def sample_surface(
    points: Array, position: ArrayLike, size: Array | None = None
) -> tuple[Array, Array]:
    import quadrants as qd

    from viscoil.preview.distance_grid import (
        DistanceGrid,
        build_distance_grid,
        device_array,
        distance_at,
        normal_at,
    )

    vec3, vec4 = qd.types.vector(3, qd.f32), qd.types.vector(4, qd.f32)

    @qd.kernel
    def sample(
        f: DistanceGrid, x: qd.types.NDArray[vec3, 1], out: qd.types.NDArray[vec4, 1]
    ) -> None:
        for i in range(x.shape[0]):
            n = normal_at(f, x[i])
            out[i] = qd.Vector([n.x, n.y, n.z, distance_at(f, x[i])])

    grid = build_distance_grid(np.asarray(position, dtype=np.float32), np.ones((1, 4)), D, size)
    out = device_array(np.full((len(points), 4), np.nan, dtype=np.float32), vec4)
    sample(grid, device_array(np.asarray(points, dtype=np.float32), vec3), out)
    result = out.to_numpy()
    return result[:, 3], result[:, :3]
