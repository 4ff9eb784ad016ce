"""How a simulation starts: its first particles, spread out where they are crowded, or a checkpoint."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

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
from viscoil.solvers.crowding import crowding
from viscoil.solvers.protocol import Solver, State
from viscoil.walls.protocol import Walls

# Rounds in which a fluid that starts too dense is spread out.
RELAXING_ROUNDS = 30
# The compression from which a start counts as overfull: a lattice has less than 1e-6, two fluids of
# different spacing side by side 0.011; a lattice that is cut to a round wall has 0.1 or more.
OVERFULL = 0.03


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


def spread_out(
    scene: Scene, solver: Solver, particles: Particles, materials: Materials, walls: Walls
) -> list[str]:
    """Relaxes a start as its fluids say, or else if it is overfull; a note for the user if it was."""
    state = State(particles, materials, walls, Forces(()))
    wishes = [fluid.relax for fluid in scene.fluids]
    if any(wishes):
        relax(solver, state, scene.simulation.spacing)
    cut = any(fluid.relax is None and fluid.shape != "particles" for fluid in scene.fluids)
    alone = len(scene.fluids) == 1 and not scene.colliders
    if any(wishes) or False in wishes or alone or not cut or not particles.count:
        return []
    copy = Particles.load(*particles.save())  # for particles get sorted
    crowded = crowding(solver, replace(state, particles=copy))
    if crowded.max() <= OVERFULL:
        return []
    before = _by_id(particles, "position")
    relax(solver, state, scene.simulation.spacing)
    way = np.linalg.norm(_by_id(particles, "position") - before, axis=1).max()
    return [
        f"{(crowded > OVERFULL).sum()} of {len(crowded)} particles started too close to walls or to "
        f"others, with densities up to {100.0 * crowded.max():.0f} % too high: all were first moved "
        f"apart, by up to {way / scene.simulation.spacing:.2g} spacings (relax = false in a fluid "
        "leaves them where they were)"
    ]


def relax(solver: Solver, state: State, spacing: float) -> None:
    """Moves particles apart where they start too dense: pressure alone, and no motion is kept.

    A round is one step, or as many as the solver needs for that time.
    """
    particles, materials = state.particles, state.materials.materials
    velocity = _by_id(particles, "velocity")
    inviscid = Materials([Material(density=m.density, viscosity=0.0) for m in materials])
    pressed = replace(state, materials=inviscid)
    # so long that a particle may move where it has to, and no wall moves meanwhile
    round_time = 0.1 * math.sqrt(spacing)
    for _ in range(RELAXING_ROUNDS):
        particles["velocity"] = 0.0
        left = round_time
        while left > 0.0:
            dt = equal_share(left, solver.longest_step(pressed))
            solver.step(pressed, dt)
            left -= dt
    particles["velocity"] = velocity[particles["id"]]
    for name, kind in solver.channels(materials).items():
        if name in particles:
            particles[name] = kind.rest


def _by_id(particles: Particles, channel: str) -> npt.NDArray[np.float32]:
    """A channel of the first particles, whose ids count up from 0, in the order of these."""
    ordered: npt.NDArray[np.float32] = np.array(particles[channel])
    ordered[particles["id"]] = particles[channel]
    return ordered
