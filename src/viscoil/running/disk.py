"""How much a run will write, known before it starts, and whether the disk has room for it."""

from pathlib import Path

from viscoil.core.errors import RunError
from viscoil.particles.store import BASE_CHANNELS
from viscoil.runs.folder import RunFolder
from viscoil.sampling import amounts
from viscoil.scene import Scene
from viscoil.simulation import memory_need

NUMBERS = {"id": 1, "material": 1}  # of a particle in a particle file; other channels have three
PICTURE_BYTES = 0.3  # per pixel of a preview, as measured on those of honey and water


def check(
    folder: RunFolder, scene: Scene, frame: int, particles: int, reclaimed: bool = False
) -> list[str]:
    """Refuses a disk without room for the present state; a note if the whole run may not fit.

    The state is after `frame` and has so many particles. With `reclaimed` the run replaces what is
    in the folder.
    """
    free = folder.free_bytes() + (folder_bytes(folder.path) if reclaimed else 0)
    least = particles * (_state_bytes(scene) + _frame_bytes(scene))
    if least > free:
        raise RunError(
            f"the disk of {folder.path} has {size_text(free)} left and a single state of the run "
            f"takes {size_text(least)}: free some space, or choose another disk with --out"
        )
    needed = run_bytes(scene, frame, particles, folder.checkpoints.keep)
    if needed <= free:
        return []
    return [
        f"the run will write about {size_text(needed)} and the disk of {folder.path} has "
        f"{size_text(free)} left; if that runs out the run stops, keeps its last state, "
        "and goes on with --resume"
    ]


def run_bytes(scene: Scene, frame: int, particles: int, keep: int) -> float:
    """Bytes that are still to be written after `frame`, when there are `particles` so far."""
    last = max(amounts.expected_particles(scene), particles)
    left = max(scene.frames - frame, 0) + 1
    return (
        left * (particles + last) / 2 * _frame_bytes(scene)
        + keep * last * _state_bytes(scene)
        + left * _picture_bytes(scene)
    )


def _state_bytes(scene: Scene) -> float:
    """Of a particle in a checkpoint: all channels, and whether it lives."""
    kinds = [*BASE_CHANNELS.values(), *memory_need.solver_channels(scene).values()]
    numbers = sum(kind.width for kind in kinds) + sum(scene.channel_widths.values()) + 1
    return 4.0 * numbers


def _frame_bytes(scene: Scene) -> float:
    """Of a particle in a particle file."""
    channels = [name for spec in scene.outputs if spec.type == "frames" for name in spec.channels]
    return 4.0 * sum(NUMBERS.get(name, 3) for name in channels)


def _picture_bytes(scene: Scene) -> float:
    if not {"preview", "video"} & {spec.type for spec in scene.outputs}:
        return 0.0
    camera = scene.camera
    return PICTURE_BYTES * (camera.width * camera.height if camera else 960 * 540)


def folder_bytes(path: Path) -> int:
    """Bytes of all files in a folder, or of a file; 0 if there is neither."""
    if not path.is_dir():
        return path.stat().st_size if path.is_file() else 0
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


def size_text(count: float) -> str:
    """Bytes in the unit that suits them."""
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "bytes" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
