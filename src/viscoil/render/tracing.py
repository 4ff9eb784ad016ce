"""A picture of triangles and looks, traced by Mitsuba and denoised by Open Image Denoise."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viscoil.core.errors import MissingExtraError
from viscoil.geometry.meshes import TriangleMesh
from viscoil.preview.camera import Camera
from viscoil.render.bodies import Body
from viscoil.render.shading import Words, glow_words, medium_words, rgb, surface_words
from viscoil.render.solids import Rod
from viscoil.render.studio import BACKDROP, backdrop, light_words, sensor_words
from viscoil.snapshots.snapshot import Array

# Radiance at which single samples (caustics found by chance) are clipped; white is 1.
BRIGHTEST = 30.0
ROD_RADIUS = 0.004  # scene radii
LONGEST_PATH = 24  # bounces of a light path, so that light gets out of scattering fluids in glass
ROULETTE = 5  # bounces after which paths end at random, in proportion to the light they carry


@dataclass(frozen=True)
class Shot:
    """Everything that is in a picture."""

    camera: Camera
    floor: float
    """Height of the floor, m."""
    fluids: Sequence[Body]
    solids: Sequence[Body | Rod]


def require_mitsuba() -> Any:
    """The module mitsuba, in the variant that needs no further library; or MissingExtraError."""
    try:
        import mitsuba
    except ImportError:
        raise MissingExtraError(
            "pictures need mitsuba, which is not here: pip install 'viscoil[render]'"
        ) from None
    mitsuba.set_variant("scalar_rgb")
    return mitsuba


def denoiser_is_here() -> bool:
    """Whether pictures can be denoised."""
    try:
        import pyoidn  # noqa: F401
    except (ImportError, OSError):
        return False
    return True


def trace(shot: Shot, width: int, height: int, samples: int) -> Array:
    """Linear light (height, width, 3), with noise; `samples` light paths per pixel."""
    mi = require_mitsuba()
    scene = mi.load_dict(_scene_words(mi, shot, width, height))
    light = np.array(mi.render(scene, spp=samples), dtype=np.float32)[..., :3]
    return np.asarray(np.clip(np.nan_to_num(light), 0.0, BRIGHTEST))


def denoised(light: Array) -> Array:
    """The same light without noise."""
    import pyoidn

    return np.asarray(pyoidn.denoise(np.ascontiguousarray(light, dtype=np.float32), hdr=True))


def _scene_words(mi: Any, shot: Shot, width: int, height: int) -> Words:
    camera = shot.camera
    integrator = {
        "type": "volpath",
        "max_depth": LONGEST_PATH,
        "rr_depth": ROULETTE,
        # the softboxes, should the camera see them; but what glows is to be seen
        "hide_emitters": all(body.look.glow is None for body in shot.fluids),
    }
    ground = {"type": "twosided", "paper": {"type": "diffuse", "reflectance": rgb(BACKDROP)}}
    words: Words = {
        "type": "scene",
        "integrator": integrator,
        "sensor": sensor_words(mi, camera, width, height),
        **light_words(mi, camera),
        "backdrop": _shape(mi, backdrop(camera, shot.floor), ground),
    }
    for i, thing in enumerate((*shot.fluids, *shot.solids)):
        words[f"thing{i}"] = (
            _rod(thing, camera.radius) if isinstance(thing, Rod) else _body(mi, thing)
        )
    return words


def _rod(rod: Rod, radius: float) -> Words:
    skin = {"type": "twosided", "paint": {"type": "diffuse", "reflectance": rgb((0.3, 0.3, 0.3))}}
    return {
        "type": "cylinder",
        "p0": rod.start.tolist(),
        "p1": rod.end.tolist(),
        "radius": ROD_RADIUS * radius,
        "bsdf": skin,
    }


def _body(mi: Any, body: Body) -> Any:
    within, glow = medium_words(body.look, body.size), glow_words(body.look)
    return _shape(mi, body.mesh, surface_words(body.look), interior=within, emitter=glow)


def _shape(mi: Any, mesh: TriangleMesh, bsdf: Words, **more: Words | None) -> Any:
    """A Mitsuba mesh from arrays, without a detour over files."""
    properties = mi.Properties()
    properties["bsdf"] = mi.load_dict(bsdf)
    for name, words in more.items():
        if words is not None:
            properties[name] = mi.load_dict(words)
    shape = mi.Mesh(
        "mesh", len(mesh.vertices), len(mesh.faces), props=properties, has_vertex_normals=True
    )
    values = mi.traverse(shape)
    values["vertex_positions"] = np.ascontiguousarray(mesh.vertices, dtype=np.float32).ravel()
    values["vertex_normals"] = np.ascontiguousarray(mesh.attributes["normal"], np.float32).ravel()
    values["faces"] = np.ascontiguousarray(mesh.faces, dtype=np.uint32).ravel()
    values.update()
    return shape
