"""Mass, centre of mass and inertia of a body, from its shape filled evenly."""

import math
from dataclasses import dataclass

import numpy as np

from viscoil.core.errors import SceneError
from viscoil.geometry.quaternions import Float
from viscoil.geometry.solid_mesh import solid_mesh
from viscoil.scene import Collider, MeshCollider


@dataclass(frozen=True)
class MassProperties:
    """Of a rigid body, in the frame of its collider."""

    mass: float  # kg
    center: Float  # (3,) m: the centre of mass seen from the collider's reference point
    inertia: Float  # (3, 3) kg m², about the centre of mass


def mass_properties(spec: Collider) -> MassProperties:
    """What the scene says about a dynamic collider."""
    if spec.shape == "mesh":
        return _of_mesh(spec)
    volume, inertia = _filled(spec)
    assert spec.shape != "plane" and (spec.mass or spec.density)  # the scene made sure
    mass = spec.mass or float(spec.density or 0.0) * volume
    return MassProperties(mass, np.zeros(3), mass * inertia)


def _of_mesh(spec: MeshCollider) -> MassProperties:
    """A solid mesh filled evenly, or a shell with its mass spread over its faces."""
    mesh = solid_mesh(spec.file, spec.scale)
    if spec.mode == "shell":
        measure, center, inertia = mesh.spread()
        if measure == 0.0:
            raise SceneError(f"the mesh {spec.file} has no area: give another mesh")
        thickness = 2.0 * (spec.offset or 0.0)
        if spec.mass is None and thickness == 0.0:
            raise SceneError(
                f"the shell {spec.file} has no thickness to take its mass from: "
                "give mass instead of density, or an offset"
            )
        mass = spec.mass or float(spec.density or 0.0) * measure * thickness
    else:
        measure, center, inertia = mesh.filled()
        mass = spec.mass or float(spec.density or 0.0) * measure
    if not mass > 0.0:
        raise SceneError(f"the mesh {spec.file} encloses no volume: give mass, or mode = shell")
    return MassProperties(mass, center, mass * inertia)


def _filled(spec: Collider) -> tuple[float, Float]:
    """Volume (m³) and inertia per mass (m²) of the solid shape in its own frame."""
    match spec.shape:
        case "sphere":
            return 4.0 / 3.0 * math.pi * spec.radius**3, 0.4 * spec.radius**2 * np.eye(3)
        case "box":
            square = np.square(spec.size)
            return math.prod(spec.size), np.diag(square.sum() - square) / 12.0
        case "cylinder":
            return _cylinder(spec.radius, spec.height)
        case "capsule":
            return _capsule(spec.radius, math.dist(spec.start, spec.end))
        case _:
            raise ValueError(f"a {spec.shape} has no finite volume")


def _cylinder(radius: float, height: float) -> tuple[float, Float]:
    across = radius**2 / 4.0 + height**2 / 12.0
    return math.pi * radius**2 * height, np.diag([across, radius**2 / 2.0, across])


def _capsule(radius: float, length: float) -> tuple[float, Float]:
    """A cylinder between two half balls, whose centres of mass lie 3/8 r beyond its ends."""
    middle, inner = _cylinder(radius, length)
    ball = 4.0 / 3.0 * math.pi * radius**3
    along = 0.4 * radius**2
    # of both half balls about the capsule's centre, by the theorem of parallel axes
    across = along + length**2 / 4.0 + 3.0 / 8.0 * radius * length
    total = middle * inner + ball * np.diag([across, along, across])
    return middle + ball, np.asarray(total / (middle + ball))
