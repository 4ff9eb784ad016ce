"""Frames and runs to be exported."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from viscoil.outputs.frames import FramesOutput
from viscoil.runs.folder import RunFolder
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, MaterialLook, Snapshot

LOOKS = [MaterialLook("honey", (0.9, 0.6, 0.1)), MaterialLook("grüne <Soße>", (0.1, 0.9, 0.1))]
SPACING = 0.25
SCENE = """
[simulation]
name = "shot"
spacing = 0.25
frames = 9
fps = 10

[[fluids]]
shape = "box"
material = "honey"
center = [0, 1, 0]
size = [1, 1, 1]
temperature = 300

[[fluids]]
shape = "sphere"
material = "water"
center = [9, 0, 0]
radius = 1
"""


def channels(count: int, seed: int = 0) -> dict[str, Array]:
    """All kinds of numbers that particles may have; ids run past 16 bits, and are in no order."""
    rng = np.random.default_rng(seed)
    return {
        "position": rng.standard_normal((count, 3)).astype(np.float32),
        "velocity": rng.standard_normal((count, 3)).astype(np.float32),
        "id": rng.permutation(count).astype(np.int32) * 70_001,
        "material": (np.arange(count) % 2).astype(np.int32),
        "temperature": rng.standard_normal(count).astype(np.float32),
        "size": rng.choice([1.0, 2.0, 3.0], count).astype(np.float32),
    }


MANY: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "flag": ("?", ()),
    "tiny": ("i1", ()),
    "byte": ("u1", ()),
    "short": ("i2", ()),
    "half": ("f2", ()),
    "double": ("f8", ()),
    "long": ("i8", ()),
    "unsigned": ("u8", ()),
    "pair": ("i4", (2,)),
    "vector": ("f8", (3,)),
    "conformation": ("f4", (6,)),
    "gradient": ("f4", (3, 3)),
}
"""Kinds and shapes of one particle's numbers in channels that are rarer."""


def rare_channels(count: int, seed: int = 0) -> dict[str, Array]:
    rng = np.random.default_rng(seed)
    found = {}
    for name, (kind, shape) in MANY.items():
        numbers = rng.integers(0, 100, (count, *shape))
        found[name] = (numbers % 2 if kind == "?" else numbers).astype(kind)
    return found


def frame(values: Mapping[str, Array], number: int = 7, time: float = 0.1 + 0.2) -> Snapshot:
    return Snapshot(number, time, values, LOOKS, [], SPACING)


def scattered(values: Mapping[str, Array]) -> dict[str, Array]:
    """The same numbers, which do not lie one after the other in memory."""
    apart = {}
    for name, array in values.items():
        wide = np.zeros((2 * len(array), *array.shape[1:][::-1], 2), array.dtype)
        strided = wide[::2, ..., 0].transpose(0, *range(array.ndim - 1, 0, -1))
        strided[:] = array
        assert not strided.flags.c_contiguous or len(array) < 2
        apart[name] = strided
    return apart


def write_run(
    folder: Path,
    frames: Sequence[int] = range(4),
    names: Sequence[str] | None = None,
    count: int = 50,
) -> RunFolder:
    """A finished run whose frames have these channels, by default all of `channels`."""
    run = RunFolder(folder)
    run.write_run(Scene.from_toml(SCENE).to_toml(), "cpu", 2, state="finished")
    output = FramesOutput(run.frames, names or tuple(channels(1)))
    for number in frames:
        output.frame(frame(channels(count + number, number), number, number / 10))
    return run
