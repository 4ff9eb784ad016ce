"""What to simulate: scene files, materials and their presets, checked and frozen, in SI units."""

from viscoil.scene.fields import Field, Kill, Region
from viscoil.scene.loader import builtin_scenes
from viscoil.scene.materials import Material, Thermal
from viscoil.scene.presets import PRESETS, Preset
from viscoil.scene.schema import Scene
from viscoil.scene.settings import (
    Bounds,
    Camera,
    OutputSpec,
    SimulationSettings,
    SolverSettings,
)
from viscoil.scene.shapes import (
    BoxCollider,
    BoxFluid,
    CapsuleCollider,
    Collider,
    CylinderCollider,
    CylinderFluid,
    DiscEmitter,
    Emitter,
    Fluid,
    Keyframe,
    MeshCollider,
    MeshEmitter,
    MeshFluid,
    ParticleFluid,
    PlaneCollider,
    RectangleEmitter,
    Rotation,
    SphereCollider,
    SphereFluid,
    TorusFluid,
)

__all__ = [
    "PRESETS",
    "Bounds",
    "BoxCollider",
    "BoxFluid",
    "Camera",
    "CapsuleCollider",
    "Collider",
    "CylinderCollider",
    "CylinderFluid",
    "DiscEmitter",
    "Emitter",
    "Field",
    "Fluid",
    "Keyframe",
    "Kill",
    "Material",
    "MeshCollider",
    "MeshEmitter",
    "MeshFluid",
    "OutputSpec",
    "ParticleFluid",
    "PlaneCollider",
    "Preset",
    "RectangleEmitter",
    "Region",
    "Rotation",
    "Scene",
    "SimulationSettings",
    "SolverSettings",
    "SphereCollider",
    "SphereFluid",
    "Thermal",
    "TorusFluid",
    "builtin_scenes",
]
