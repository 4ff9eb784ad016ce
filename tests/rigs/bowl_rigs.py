"""A closed bowl of zero thickness that is shaken hard: what is in it must stay in it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from viscoil import Scene, Simulation
from viscoil.geometry.meshes import TriangleMesh, write_mesh
from viscoil.geometry.meshes.builtin import builtin

RADIUS = 0.5  # m, of the bowl


def covered_bowl() -> TriangleMesh:
    """The bowl of zero thickness with a flat lid of zero thickness, so that nothing may leave it."""
    bowl = builtin("bowl")
    height = bowl.vertices[:, 1].max()
    rim = np.flatnonzero(np.abs(bowl.vertices[:, 1] - height) < 1e-9)
    rim = rim[np.argsort(np.arctan2(bowl.vertices[rim, 2], bowl.vertices[rim, 0]))]
    middle = len(bowl.vertices)
    lid = [(middle, a, b) for a, b in zip(rim, np.roll(rim, -1), strict=True)]
    return TriangleMesh(
        np.vstack([bowl.vertices, [[0.0, height, 0.0]]]),
        np.vstack([bowl.faces, np.array(lid)]).astype(np.int32),
        {},
    )


def shaken(file: Path, spacing: float, seconds: float, viscosity: float, contact: str) -> Scene:
    """To and fro at 3 m/s with sudden turns, and a step up and down every other time."""
    turns = int(seconds / 0.2) + 1
    keys = [{"time": 0.1, "translation": [0.0, 0.0, 0.0]}]
    keys += [
        {"time": 0.1 + 0.2 * k, "translation": [0.3 * (-1) ** k, 0.1 * (k // 2 % 2), 0.0]}
        for k in range(1, turns + 1)
    ]
    collider = {"shape": "mesh", "file": str(file), "mode": "shell", "contact": contact}
    fluid = {"shape": "cylinder", "center": (0, 0.24, 0), "radius": 0.5, "height": 0.46}
    # a fixed step, so long that the bowl moves half a spacing in it, and jets several
    step = 0.46 * spacing / 3.0
    settings = {"spacing": spacing, "duration": seconds, "name": "bowl", "time_step": step}
    return Scene.model_validate(
        {
            "simulation": settings,
            "materials": {"liquid": {"density": 1000.0, "viscosity": viscosity}},
            "fluids": [{"material": "liquid", "relax": True, **fluid}],
            "colliders": [{**collider, "motion": keys}],
        }
    )


@dataclass
class ShakenBowl:
    """A filled bowl, and the worst of what has been seen of it."""

    simulation: Simulation
    outside: int = 0  # most particles outside at the end of any step
    nearest: float = np.inf  # m, to the middle of the shell; negative: outside

    @classmethod
    def filled(
        cls, folder: Path, spacing: float, seconds: float, viscosity: float = 0.0,
        contact: str = "slip",
    ) -> "ShakenBowl":  # fmt: skip
        write_mesh(folder / "bowl.ply", covered_bowl())
        scene = shaken(folder / "bowl.ply", spacing, seconds, viscosity, contact)
        bowl = cls(Simulation(scene))
        # what the cylinder has outside of the bowl is not part of the filling
        particles = bowl.simulation.particles
        kept = (bowl._depths() > 0.0).astype(np.int32)
        room = (0, particles.capacity - len(kept))
        particles.alive.from_numpy(np.pad(kept, room, constant_values=1))
        return bowl

    def step(self) -> None:
        self.simulation.step()
        depths = self._depths()
        self.nearest = min(self.nearest, float(depths.min()))
        self.outside = max(self.outside, int((depths <= 0.0).sum()))

    def shake(self) -> None:
        """To the end of the scene."""
        end = self.simulation.scene.simulation.duration
        assert end is not None
        while self.simulation.time < end - 1e-9:
            self.step()

    def _depths(self) -> NDArray[np.float64]:
        """How far inside of the shell each particle is, m."""
        simulation = self.simulation
        pose = simulation._colliders.pose(0, simulation.time)
        p = pose.to_body(simulation.particles["position"].astype(float))
        from_dish = RADIUS - np.linalg.norm(p - (0, RADIUS, 0), axis=1)
        return np.asarray(np.minimum(from_dish, RADIUS - p[:, 1]))
