"""How much memory a scene will need, known before anything is allocated."""

from collections.abc import Mapping

from viscoil.core.errors import RunError
from viscoil.core.memory import SHARE_OF_MEMORY, available
from viscoil.particles.store import ChannelKind
from viscoil.sampling.amounts import expected_particles
from viscoil.scene import Scene
from viscoil.solvers.registry import find_solver

ROOM_TO_GROW = 1.25  # how many times what is in use arrays may hold that had to grow
MOST_PARTICLES = 1e15  # beyond it the sentence names the count and no bytes


def solver_channels(scene: Scene) -> Mapping[str, ChannelKind]:
    """The channels that the solver gives to the particles of a scene."""
    solver = find_solver(scene.solver.method)
    return solver.channels(scene.materials.values(), _wanted(scene))


def bytes_per_particle(scene: Scene) -> float:
    """At the peak of a step: what the solver says, more where particles are added."""
    room = ROOM_TO_GROW if scene.emitters else 1.0
    own = 4 * sum(scene.channel_widths.values())
    solver = find_solver(scene.solver.method)
    return room * (own + solver.bytes_per_particle(scene.materials.values(), _wanted(scene)))


def check(scene: Scene) -> None:
    """Refuses a scene that would not fit."""
    count = expected_particles(scene)
    needed, free = count * bytes_per_particle(scene), available()
    if count > MOST_PARTICLES:
        raise RunError(
            f"the scene asks for {count:.1e} particles, more than any machine holds: use a larger "
            "simulation.spacing or a smaller simulation.scale"
        )
    if needed > SHARE_OF_MEMORY * free:
        raise RunError(
            f"the scene needs about {needed / 2**30:.1f} GiB for {count:,} particles and "
            f"{free / 2**30:.1f} GiB are free: use a larger simulation.spacing"
        )


def _wanted(scene: Scene) -> set[str]:
    """The channels that outputs name."""
    return {name for output in scene.outputs for name in output.channels}
