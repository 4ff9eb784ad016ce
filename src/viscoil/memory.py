"""How much memory a scene will need, known before anything is allocated, and what takes it."""

import ctypes
import math
import os
from collections.abc import Iterator
from typing import Any

from viscoil.errors import RunError
from viscoil.scene import Emitter, Fluid, Scene
from viscoil.scene.fluids import LatticeFluid

# At the peak of a step, per particle: `make bench` measured 682, and 333 for water.
BYTES_UNDER_STRESS = 730
BYTES_WITHOUT_STRESS = 370
ROOM_TO_GROW = 1.25  # how many times what is in use arrays may hold that had to grow
OF_STRESS = {"conformation", "dilation", "curvature", "stress", "bend"}  # channels
MOST_PARTICLES = 1e15  # beyond it a count of bytes says nothing to anybody
SHARE_OF_MEMORY = 0.9  # of what is free, that a run may take


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


def available() -> int:
    """Free memory in bytes."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    if hasattr(os, "sysconf"):
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    return 2**62


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
            from viscoil.sampling.solid_mesh import solid_mesh

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
            from viscoil.sampling.solid_mesh import solid_mesh

            area = solid_mesh(emitter.file, emitter.scale).spread()[0]
    return max(open_for, 0.0) * emitter.speed * area


def give_back() -> None:
    """Returns freed memory to the system where the C library keeps it: glibc, after large arrays."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def held(owner: Any) -> dict[str, int]:
    """Bytes of each array that an object (or a dictionary of them) holds, the longest first."""
    from viscoil.compute import view  # a scene is checked before the backend is loaded

    sizes = [(name, view(array).nbytes) for name, array in _arrays(owner, "", set())]
    return dict(sorted(sizes, key=lambda item: -item[1]))


def _arrays(value: Any, name: str, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Arrays with their dotted names; what is held twice comes under its first name."""
    if id(value) in seen:
        return
    seen.add(id(value))
    if hasattr(value, "to_dlpack"):
        yield name, value
    elif isinstance(value, dict) or type(value).__module__.startswith("viscoil."):
        items = value if isinstance(value, dict) else vars(value)
        for key, item in items.items():
            label = getattr(key, "__name__", str(key)).lstrip("_")
            yield from _arrays(item, f"{name}.{label}".lstrip("."), seen)
