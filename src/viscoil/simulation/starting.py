"""How a simulation starts: its first particles, spread out where they are crowded, or a checkpoint."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.core.errors import ResumeError
from viscoil.forces.protocol import Forces
from viscoil.materials.table import Materials
from viscoil.neighbors.levels import MixedNeighbors
from viscoil.neighbors.pairs import Neighbors
from viscoil.particles.store import BODY, SIZE, Particles
from viscoil.sampling.initial_channels import ItemChannels
from viscoil.sampling.seeding import Seeding
from viscoil.scene import Material, Scene
from viscoil.simulation.memory_need import solver_channels
from viscoil.simulation.stepping import equal_share
from viscoil.solvers.protocol import Solver, State
from viscoil.walls.protocol import Walls

# Rounds in which a fluid that starts too dense is spread out.
RELAXING_ROUNDS = 30


def make_neighbors(scene: Scene) -> Neighbors:
    """What finds pairs in this scene, of one resolution or of several."""
    periodic = scene.simulation.periodic
    if not scene.mixed:
        return Neighbors(periodic)
    return MixedNeighbors([d / scene.simulation.spacing for d in scene.spacings], periodic)


def check_solver(path: Path | str, metadata: Mapping[str, Any], method: str) -> None:
    """Raises ResumeError for a checkpoint of another solver than the scene's."""
    wrote = metadata.get("solver", method)  # earlier versions did not save it
    if wrote != method:
        raise ResumeError(
            f"{path} was written by the solver {wrote}, and the scene names {method}: set "
            f'solver.method to "{wrote}", or start anew'
        )


def first_particles(scene: Scene, start: Seeding, channels: ItemChannels) -> Particles:
    """The particles that a scene starts with, with every channel that it asks for."""
    particles = Particles(len(start.position), solver_channels(scene))
    channels.add_to(particles)
    if scene.mixed:
        particles.add_channel("size", SIZE)
    if scene.parted:
        particles.add_channel("body", BODY)
    if len(start.position):
        particles.append(
            {
                "position": start.position,
                "velocity": start.velocity,
                "material": start.material,
                **channels.of_fluids(start.fluid),
                "size": start.size,
                "body": np.array(scene.bodies, np.int32)[start.fluid],
            }
        )
    return particles


def relax(
    particles: Particles,
    solver: Solver,
    materials: Sequence[Material],
    walls: Walls,
    spacing: float,
) -> None:
    """Moves particles apart where they start too dense: pressure alone, and no motion is kept.

    A round is one step, or as many as the solver needs for that time.
    """
    velocity = np.array(particles["velocity"])  # by id, for ids still count up
    inviscid = Materials([Material(density=m.density, viscosity=0.0) for m in materials])
    state = State(particles, inviscid, walls, Forces(()))
    # so long that a particle may move where it has to, and no wall moves meanwhile
    round_time = 0.1 * math.sqrt(spacing)
    for _ in range(RELAXING_ROUNDS):
        particles["velocity"] = 0.0
        left = round_time
        while left > 0.0:
            dt = equal_share(left, solver.longest_step(state))
            solver.step(state, dt)
            left -= dt
    particles["velocity"] = velocity[particles["id"]]
    for name, kind in solver.channels(materials).items():
        if name in particles:
            particles[name] = kind.rest
