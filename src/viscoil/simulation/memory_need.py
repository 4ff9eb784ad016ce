"""How much memory a scene will need, known before anything is allocated."""

from viscoil.core.errors import RunError
from viscoil.core.memory import SHARE_OF_MEMORY, available
from viscoil.sampling.amounts import expected_particles
from viscoil.scene import Scene

# At the peak of a step, per particle: `make bench` measured 682, and 333 for water.
BYTES_UNDER_STRESS = 730
BYTES_WITHOUT_STRESS = 370
ROOM_TO_GROW = 1.25  # how many times what is in use arrays may hold that had to grow
OF_STRESS = {"conformation", "dilation", "curvature", "stress", "bend"}  # channels
MOST_PARTICLES = 1e15  # beyond it a count of bytes says nothing to anybody


def needs_stress(scene: Scene) -> bool:
    """Whether particles need channels for stress: for a material, or because one is to be written."""
    materials = scene.materials.values()
    carried = any(m.carries_stress or m.surface_tension > 0.0 for m in materials)
    return carried or any(OF_STRESS & {*output.channels} for output in scene.outputs)


def bytes_per_particle(scene: Scene) -> float:
    """At the peak of a step: less where no material carries stress, more where particles are added."""
    room = ROOM_TO_GROW if scene.emitters else 1.0
    own = 4 * sum(scene.channel_widths.values())
    return room * (own + (BYTES_UNDER_STRESS if needs_stress(scene) else BYTES_WITHOUT_STRESS))


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
