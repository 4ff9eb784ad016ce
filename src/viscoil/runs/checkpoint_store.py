"""The checkpoints of a run folder: which there are, and which of them stay."""

from collections.abc import Sequence
from pathlib import Path

from viscoil.core.files import reporting

KEEP = 5  # checkpoints that stay in a run folder
LAST = 2  # of these, the newest: one to go on from, and one in case it is damaged


def thinned(steps: Sequence[int], keep: int) -> list[int]:
    """The steps whose checkpoints stay: the last two, and others spread over the whole run.

    `steps` ascend. Of those before the last two, the one whose neighbours are closest together goes
    first, so that what stays has even gaps however long the run becomes.
    """
    kept = list(steps)
    while len(kept) > keep:
        before = [0, *kept]  # the start of the run is a checkpoint that needs no file
        gaps = [kept[k + 1] - before[k] for k in range(len(kept) - LAST)]
        kept.pop(gaps.index(min(gaps)))
    return kept


class CheckpointStore:
    """The checkpoints of a run: the last two, and a few from earlier to go back to."""

    def __init__(self, folder: Path | str, keep: int = KEEP) -> None:
        if keep < LAST:
            raise ValueError(f"at least {LAST} checkpoints must be kept")
        self.folder = Path(folder)
        self.keep = keep

    def path(self, step: int) -> Path:
        """Where the checkpoint after a step is."""
        return self.folder / f"step_{step:09d}.npz"

    def make_folder(self) -> None:
        """Makes the folder, into which a simulation then saves itself."""
        with reporting(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)

    def thin(self) -> None:
        """Removes checkpoints until `keep` are left."""
        found = self.all()
        kept = set(thinned([step_number(path) for path in found], self.keep))
        with reporting(self.folder):
            for path in found:
                if step_number(path) not in kept:
                    path.unlink(missing_ok=True)

    def cut_back(self, step: int) -> None:
        """Removes checkpoints from after a step, the latest first."""
        with reporting(self.folder):
            for path in reversed(self.all()):
                if step_number(path) > step:
                    path.unlink(missing_ok=True)

    def all(self) -> list[Path]:
        """The checkpoints that there are, oldest first."""
        found = (p for p in self.folder.glob("step_*.npz") if p.stem[5:].isdecimal())
        return sorted(found, key=step_number)


def step_number(path: Path) -> int:
    """The step that a checkpoint was taken after, by its name."""
    return int(path.stem.removeprefix("step_"))
