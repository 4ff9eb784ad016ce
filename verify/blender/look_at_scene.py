"""Runs in the `bpy` wheel: builds a scene by its script, says what is in it, and renders a picture.

    python look_at_scene.py SCRIPT PICTURE WIDTH SAMPLES FRAME...

Prints a line of JSON: points and bounds (m, y up) of every fluid at the frames, the world place of
the first vertex of meshes, the camera's field of view, and the mean brightness of the picture.
"""

import json
import runpy
import sys
from typing import Any

import bpy
import numpy as np


def places(thing: Any) -> Any:
    """World places (n, 3) of what is drawn, turned back to y up."""
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    values = evaluated.data.attributes["position"].data
    local = np.empty(3 * len(values), np.float32)
    values.foreach_get("vector", local)
    matrix = np.array(evaluated.matrix_world)
    world = local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    return np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1)


def speed(thing: Any) -> float | None:
    """The largest speed (m/s) of what is drawn; None without velocities."""
    evaluated = thing.evaluated_get(bpy.context.evaluated_depsgraph_get())
    attribute = evaluated.data.attributes.get("velocity")
    if attribute is None:
        return None
    values = np.empty(3 * len(attribute.data), np.float32)
    attribute.data.foreach_get("vector", values)
    return float(np.linalg.norm(values.reshape(-1, 3), axis=1).max()) if len(values) else 0.0


def described(thing: Any) -> dict[str, Any]:
    x = places(thing)
    bounds = [x.min(axis=0).tolist(), x.max(axis=0).tolist()] if len(x) else None
    return {"type": thing.type, "count": len(x), "bounds": bounds, "speed": speed(thing)}


def render(picture: str, width: int, samples: int) -> Any:
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = width, width * 9 // 16
    scene.cycles.samples = samples
    scene.render.filepath = picture
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(picture)
    pixels = np.empty(len(image.pixels), np.float32)
    image.pixels.foreach_get(pixels)
    return pixels.reshape(-1, 4)[:, :3]


def main(script: str, picture: str, width: str, samples: str, *frames: str) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    runpy.run_path(script, run_name="__main__")
    scene = bpy.context.scene
    found: dict[str, Any] = {"version": bpy.app.version_string, "frames": {}}
    for frame in frames:
        scene.frame_set(int(frame))
        things = (t for t in bpy.data.objects if t.type in ("POINTCLOUD", "MESH"))
        found["frames"][frame] = {t.name: described(t) for t in things}
    found["range"] = [scene.frame_start, scene.frame_end, scene.render.fps / scene.render.fps_base]
    found["fov"] = scene.camera.data.angle_y
    found["engine"] = [scene.render.engine, scene.render.use_motion_blur]
    pixels = render(picture, int(width), int(samples))
    found["mean"], found["spread"] = float(pixels.mean()), float(pixels.std())
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
