"""The studio: a backdrop that bends from floor to wall, two soft lights, and a camera.

It is built around the camera, so that on a turntable the light stays and the scene turns.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from viscoil.geometry.meshes import TriangleMesh
from viscoil.preview.camera import Camera, scene_bounds
from viscoil.render.shading import Words, rgb
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, ColliderPose

BACKDROP: tuple[float, float, float] = (0.36, 0.35, 0.34)
SKY = (0.36, 0.38, 0.42)
BEND = 5.0  # radius of the bend between floor and wall; this and what follows is in scene radii
BEHIND = 4.0  # from the target to where the floor begins to bend
WIDE, FRONT, HIGH = 80.0, 60.0, 60.0


@dataclass(frozen=True)
class Softbox:
    """A square light that faces the target, placed as the camera sees it."""

    right: float
    up: float
    near: float  # towards the camera
    half_size: float
    radiance: tuple[float, float, float]


SOFTBOXES = {
    "key": Softbox(-2.6, 3.2, 1.4, 1.3, (11.5, 10.8, 9.8)),
    "rim": Softbox(2.2, 2.2, -2.6, 1.1, (9.5, 9.8, 10.5)),
}


def orbited(camera: Camera, angle: float) -> Camera:
    """The camera on a circle around its target, by an angle (rad) about the vertical."""
    x, y, z = np.subtract(camera.position, camera.target)
    cos, sin = math.cos(angle), math.sin(angle)
    tx, ty, tz = camera.target
    return replace(camera, position=(tx + cos * x + sin * z, ty + y, tz - sin * x + cos * z))


def zoomed(camera: Camera, factor: float) -> Camera:
    """The camera with a longer lens, which shows things that many times larger."""
    return replace(camera, fov=2.0 * math.atan(math.tan(0.5 * camera.fov) / factor))


def floor_height(scene: Scene, camera: Camera, colliders: list[ColliderPose]) -> float:
    """Where the backdrop's floor is, m: at a level plane, else under what stands, else far below."""
    levels = [float(c.position[1]) for c in colliders if is_floor(c)]
    if levels:
        return max(levels)
    if camera.floor is not None:
        return camera.floor
    return float(scene_bounds(scene)[0][1]) - camera.radius


def is_floor(collider: ColliderPose) -> bool:
    """Whether a collider is a level plane that faces up, for which the backdrop stands."""
    if collider.spec.shape != "plane":
        return False
    x, _, z, _ = (float(q) for q in collider.orientation)
    return 1.0 - 2.0 * (x * x + z * z) > 0.9999  # how far its normal points up


def sensor_words(mi: Any, camera: Camera, width: int, height: int) -> Words:
    """The camera; pixels do not overlap, which the denoiser counts on."""
    _, up, _ = camera.axes()
    place = mi.ScalarTransform4f().look_at(
        origin=list(camera.position), target=list(camera.target), up=up.tolist()
    )
    film = {
        "type": "hdrfilm",
        "width": width,
        "height": height,
        "rfilter": {"type": "box"},
        "pixel_format": "rgb",
    }
    return {
        "type": "perspective",
        "fov": math.degrees(camera.fov),
        "fov_axis": "y",
        "near_clip": 1e-2 * camera.radius,
        "far_clip": 1e4 * camera.radius,
        "to_world": place,
        "film": film,
        "sampler": {"type": "independent"},
    }


def light_words(mi: Any, camera: Camera) -> Words:
    """Softboxes and a dim even sky."""
    words: Words = {"sky": {"type": "constant", "radiance": rgb(SKY)}}
    right, forward = _level_axes(camera)
    for name, box in SOFTBOXES.items():
        away = box.right * right + box.up * np.array([0.0, 1.0, 0.0]) - box.near * forward
        origin = np.array(camera.target) + camera.radius * away
        turn = mi.ScalarTransform4f().look_at(
            origin=origin.tolist(), target=list(camera.target), up=[0.0, 1.0, 0.0]
        )
        half = box.half_size * camera.radius
        emitter = {"type": "area", "radiance": rgb(box.radiance)}
        words[name] = {
            "type": "rectangle",
            "to_world": turn.scale([half, half, 1.0]),
            "emitter": emitter,
        }
    return words


def backdrop(camera: Camera, floor: float) -> TriangleMesh:
    """Floor, bend and wall in one smooth sheet."""
    profile, normal = _backdrop_profile()
    right, forward = _level_axes(camera)
    up = np.array([0.0, 1.0, 0.0])
    origin = np.array([camera.target[0], floor, camera.target[2]])
    line = origin + camera.radius * (profile[:, :1] * forward + profile[:, 1:] * up)
    side = WIDE * camera.radius * right
    vertices = np.concatenate([line - side, line + side])
    normals = np.tile(normal[:, :1] * forward + normal[:, 1:] * up, (2, 1))
    i, n = np.arange(len(line) - 1), len(line)
    faces = np.stack([i, n + i, n + i + 1, i, n + i + 1, i + 1], axis=1).reshape(-1, 3)
    return TriangleMesh(vertices, faces.astype(np.int32), {"normal": normals.astype(np.float32)})


def _backdrop_profile() -> tuple[Array, Array]:
    """Points (ahead, up) from behind the camera to the top of the wall, and their normals."""
    angle = np.linspace(0.0, 0.5 * np.pi, 48)
    bend = np.stack([BEHIND + BEND * np.sin(angle), BEND - BEND * np.cos(angle)], axis=1)
    points = np.concatenate([[(-FRONT, 0.0)], bend, [(BEHIND + BEND, HIGH)]])
    turned = np.concatenate([[0.0], angle, [0.5 * np.pi]])
    return points, np.stack([-np.sin(turned), np.cos(turned)], axis=1)


def _level_axes(camera: Camera) -> tuple[Array, Array]:
    """Unit vectors to the right and ahead, both level."""
    right, up, forward = camera.axes()
    ahead = forward if abs(forward[1]) < 0.9999 else up
    ahead = np.array([ahead[0], 0.0, ahead[2]])
    return right, ahead / np.linalg.norm(ahead)
