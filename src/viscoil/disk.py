"""How much a run will write, known before it starts, and whether the disk has room for it."""

from pathlib import Path

from viscoil import memory
from viscoil.errors import RunError
from viscoil.outputs.protocol import Snapshot
from viscoil.outputs.run_folder import RunFolder
from viscoil.scene import Scene

STATE_UNDER_STRESS = 200  # bytes of a particle in a checkpoint
STATE_WITHOUT_STRESS = 90
STANDARD_BYTES = {"position": 12, "velocity": 12, "id": 8, "material": 4}  # in a particle file
OTHER_BYTES = 12  # of a channel that is not listed
PICTURE_SHARE = 1.5  # bytes of a compressed preview per pixel, at most


def check(
    folder: RunFolder, scene: Scene, now: Snapshot, keep: int, reclaimed: bool = False
) -> list[str]:
    """Refuses a disk without room for the present state; a note if the whole run may not fit.

    With `reclaimed` the run replaces what is in the folder.
    """
    free = folder.free_bytes() + (folder_bytes(folder.path) if reclaimed else 0)
    state = len(now.channels["position"]) * _state_bytes(scene)
    least = state + len(now.channels["position"]) * _frame_bytes(scene)
    if least > free:
        raise RunError(
            f"the disk of {folder.path} has {size_text(free)} left and a single state of the run takes "
            f"{size_text(least)}: free some space, or choose another disk with --out"
        )
    needed = run_bytes(scene, now.frame, len(now.channels["position"]), keep)
    if needed <= free:
        return []
    return [
        f"the run will write about {size_text(needed)} and the disk of {folder.path} has "
        f"{size_text(free)} left; if that runs out the run stops, keeps its last state, "
        "and goes on with --resume"
    ]


def run_bytes(scene: Scene, frame: int, particles: int, keep: int) -> float:
    """Bytes that are still to be written after `frame`, when there are `particles` so far."""
    last = max(memory.expected_particles(scene), particles)
    left = max(scene.frames - frame, 0) + 1
    return (
        left * (particles + last) / 2 * _frame_bytes(scene)
        + keep * last * _state_bytes(scene)
        + left * _picture_bytes(scene)
    )


def _state_bytes(scene: Scene) -> float:
    """Of a particle in a checkpoint."""
    own = 4 * sum(scene.channel_widths.values())
    return own + (STATE_UNDER_STRESS if memory.needs_stress(scene) else STATE_WITHOUT_STRESS)


def _frame_bytes(scene: Scene) -> float:
    """Of a particle in a particle file."""
    channels = [name for spec in scene.outputs if spec.type == "frames" for name in spec.channels]
    return float(sum(STANDARD_BYTES.get(name, OTHER_BYTES) for name in channels))


def _picture_bytes(scene: Scene) -> float:
    if not {"preview", "video"} & {spec.type for spec in scene.outputs}:
        return 0.0
    camera = scene.camera
    return PICTURE_SHARE * (camera.width * camera.height if camera else 960 * 540)


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
