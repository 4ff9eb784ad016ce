"""What to simulate: scene files, materials and their presets, checked and frozen, in SI units."""

from viscoil.scene._base import NonNegative, Positive
from viscoil.scene.colliders import (
    BoxCollider,
    CapsuleCollider,
    Collider,
    CylinderCollider,
    MeshCollider,
    PlaneCollider,
    SphereCollider,
)
from viscoil.scene.emitters import DiscEmitter, Emitter, MeshEmitter, RectangleEmitter
from viscoil.scene.fields import Field, Region
from viscoil.scene.fluids import (
    BoxFluid,
    CylinderFluid,
    Fluid,
    MeshFluid,
    ParticleFluid,
    SphereFluid,
    TorusFluid,
)
from viscoil.scene.geometry import Rotation
from viscoil.scene.kill import Kill
from viscoil.scene.loader import builtin_scenes
from viscoil.scene.materials import Material, Thermal
from viscoil.scene.motion import Keyframe
from viscoil.scene.presets import PRESETS, Preset
from viscoil.scene.schema import Scene
from viscoil.scene.settings import (
    Bounds,
    Camera,
    OutputSpec,
    SimulationSettings,
)
from viscoil.scene.solvers import DcpbdSettings, SolverSettings

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
    "DcpbdSettings",
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
    "NonNegative",
    "OutputSpec",
    "ParticleFluid",
    "PlaneCollider",
    "Positive",
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
