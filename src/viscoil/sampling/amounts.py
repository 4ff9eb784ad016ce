"""How much fluid a scene asks for, before any of it is made."""

import math

from viscoil.scene import Emitter, Fluid, Scene
from viscoil.scene.fluids import LatticeFluid


def expected_particles(scene: Scene) -> int:
    """Particles at the start, and those that emitters add over the whole run."""
    duration = scene.frames / scene.simulation.fps
    start = sum(starting_particles(fluid, scene.spacing_of(fluid)) for fluid in scene.fluids)
    added = sum(
        emitted_volume(emitter, duration) / scene.spacing_of(emitter) ** 3
        for emitter in scene.emitters
    )
    if scene.simulation.max_particles is not None:
        added = min(added, max(scene.simulation.max_particles - start, 0.0))
    return math.ceil(start + added)


def starting_particles(fluid: Fluid, spacing: float) -> float:
    """About how many particles a fluid starts with."""
    if fluid.shape == "particles":
        from viscoil.sampling.seed_files import seed_file

        return len(seed_file(fluid.file).position)
    return _volume(fluid) / spacing**3


def _volume(fluid: LatticeFluid) -> float:
    """Of a body of fluid as the scene describes it, m³."""
    match fluid.shape:
        case "box":
            return math.prod(fluid.size)
        case "sphere":
            return 4.0 / 3.0 * math.pi * fluid.radius**3
        case "cylinder":
            return math.pi * fluid.radius**2 * fluid.height
        case "torus":
            return 2.0 * math.pi**2 * fluid.radius * fluid.tube_radius**2
        case "mesh":
            from viscoil.geometry.solid_mesh import solid_mesh

            return solid_mesh(fluid.file, fluid.scale).volume


def emitted_volume(emitter: Emitter, duration: float) -> float:
    """What flows out of an emitter within `duration` (s), m³."""
    open_for = min(duration, duration if emitter.stop is None else emitter.stop) - emitter.start
    if emitter.flow_rate is not None:
        return max(open_for, 0.0) * emitter.flow_rate
    assert emitter.speed is not None
    match emitter.shape:
        case "disc":
            area = math.pi * emitter.radius**2
        case "rectangle":
            area = emitter.size[0] * emitter.size[1]
        case "mesh":
            from viscoil.geometry.solid_mesh import solid_mesh

            area = solid_mesh(emitter.file, emitter.scale).spread()[0]
    return max(open_for, 0.0) * emitter.speed * area
