"""Materials, and the camera, of a USD stage."""

import math
from typing import Any

from viscoil.exchange.usd import library as usd
from viscoil.exchange.usd.names import CAMERA, LOOKS
from viscoil.preview.camera import Camera, picture_size
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import MaterialLook

IOR = 1.4  # between water (1.33) and honey or syrup (1.5)
WALL = MaterialLook("wall", (0.55, 0.55, 0.55), 0.0)
WINDOW = MaterialLook("window", (0.85, 0.9, 0.95), 1.0)
SENSOR = 0.36  # width of the film in tenths of a metre, as USD counts: a 36 mm camera


def add_look(stage: Any, name: str, look: MaterialLook, *, colored: bool = False) -> Any:
    """A UsdPreviewSurface; `colored` ones take the colour of the points or vertices."""
    shade, types = usd.UsdShade, usd.Sdf.ValueTypeNames
    usd.UsdGeom.Scope.Define(stage, LOOKS)
    material = shade.Material.Define(stage, f"{LOOKS}/{name}")
    shader = shade.Shader.Define(stage, f"{LOOKS}/{name}/Surface")
    shader.CreateIdAttr("UsdPreviewSurface")
    color = shader.CreateInput("diffuseColor", types.Color3f)
    color.Set(usd.Gf.Vec3f(*look.color))
    if colored:
        color.ConnectToSource(_point_color(stage, f"{LOOKS}/{name}/Color", look))
    for key, value in _numbers(look).items():
        shader.CreateInput(key, types.Float).Set(value)
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return material


def bind(stage: Any, path: str, material: Any) -> None:
    """Gives a prim its material."""
    usd.UsdShade.MaterialBindingAPI.Apply(stage.GetPrimAtPath(path)).Bind(material)


def add_camera(stage: Any, scene: Scene) -> None:
    """The camera of the preview."""
    camera = Camera.frame_scene(scene)
    width, height = picture_size(scene)
    right, up, forward = camera.axes()
    rows = [(*right, 0.0), (*up, 0.0), (*(-forward), 0.0), (*camera.position, 1.0)]
    prim = usd.UsdGeom.Camera.Define(stage, CAMERA)
    prim.AddTransformOp().Set(usd.Gf.Matrix4d([[float(x) for x in row] for row in rows]))
    opening = SENSOR * height / width
    prim.CreateHorizontalApertureAttr(SENSOR)
    prim.CreateVerticalApertureAttr(opening)
    prim.CreateFocalLengthAttr(0.5 * opening / math.tan(0.5 * camera.fov))
    distance = math.dist(camera.position, camera.target)
    prim.CreateClippingRangeAttr(usd.Gf.Vec2f(0.01 * distance, 1000.0 * distance))
    prim.CreateFocusDistanceAttr(distance)


def _numbers(look: MaterialLook) -> dict[str, float]:
    """Clear liquids are smooth and let light through; opaque ones scatter it at their surface."""
    dull = (1.0 - look.transmission) ** 2
    return {
        "roughness": 0.05 + 0.4 * dull,
        "opacity": 1.0 - 0.85 * look.transmission,
        "ior": IOR,
        "metallic": 0.0,
    }


def _point_color(stage: Any, path: str, look: MaterialLook) -> Any:
    """What reads the colour of a point or vertex."""
    types = usd.Sdf.ValueTypeNames
    reader = usd.UsdShade.Shader.Define(stage, path)
    reader.CreateIdAttr("UsdPrimvarReader_float3")
    reader.CreateInput("varname", types.String).Set("displayColor")
    reader.CreateInput("fallback", types.Float3).Set(usd.Gf.Vec3f(*look.color))
    return reader.CreateOutput("result", types.Float3)
