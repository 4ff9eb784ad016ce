"""Alembic: all frames in one archive, made of arrays that are written frame by frame.

An archive takes its samples in order, so the frames are NumPy files first, which any process may
write at any time; `finish` streams them into the archive, one frame in memory.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.core.errors import MissingExtraError
from viscoil.core.files import replacing
from viscoil.exchange.npz import NpzFormat
from viscoil.outputs.frames import frame_name, read_frame
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array, Snapshot

NEEDED = ("velocity", "id", "material")  # channels that points of an archive have a place for


class AlembicFormat(NpzFormat):
    """Points of each material with velocities (m/s), ids and widths (m); time in seconds.

    The frames beside the archive are what it is made of, and hold the other channels too. Between
    frames that are far apart, as where one is missing, the earlier one stays.
    """

    name = "alembic"
    opened_by = "Houdini, Maya and Blender"

    def prepare(self) -> None:
        _library()

    def ties(self, scene: Scene) -> Sequence[str]:
        return (f"{scene.name}.abc",)

    def write(self, path: Path, snapshot: Snapshot, channels: Sequence[str]) -> None:
        more = [name for name in NEEDED if name in snapshot.channels and name not in channels]
        super().write(path, snapshot, [*channels, *more])

    def finish(self, folder: Path, scene: Scene, frames: Sequence[int]) -> Path:
        path = folder / f"{scene.name}.abc"
        step = math.gcd(*(b - a for a, b in pairwise(frames))) or 1
        with replacing(path) as part:
            archive = _Archive(part, list(scene.materials), frames[0], step, scene.simulation.fps)
            arrays: dict[str, Array] = {}
            for number in range(frames[0], frames[-1] + 1, step):
                if number in frames:
                    arrays = read_frame(folder / frame_name(number, self.suffix))
                archive.add(arrays)
            archive.close()
        return path


class _Archive:
    """An archive that is being written: an object of points for each material."""

    def __init__(
        self, path: Path, materials: Sequence[str], first: int, step: int, fps: float
    ) -> None:
        library = _library()
        self._geometry = library.AbcGeom
        self._archive = library.Abc.OArchive(str(path))
        sampling = library.AbcCoreAbstract.TimeSampling(step / fps, first / fps)
        index = self._archive.addTimeSampling(sampling)
        top = self._archive.getTop()
        names = [name.replace("/", "_") for name in materials]
        self._points = [self._geometry.OPoints(top, name, index) for name in names]

    def add(self, arrays: dict[str, Array]) -> None:
        """The next frame; Python's objects must live until the sample is taken."""
        material = arrays.get("material", np.zeros(len(arrays["position"]), np.int32))
        for k, points in enumerate(self._points):
            here = material == k
            sample = self._geometry.OPointsSchemaSample()
            sample.setPositions(_vectors(arrays["position"][here]))
            sample.setIds(_whole(arrays.get("id", np.arange(len(here)))[here]))
            if "velocity" in arrays:
                sample.setVelocities(_vectors(arrays["velocity"][here]))
            scope = self._geometry.GeometryScope.kVertexScope
            width = _floats(2.0 * arrays["radius"][here])
            sample.setWidths(self._geometry.OFloatGeomParamSample(width, scope))
            points.getSchema().set(sample)

    def close(self) -> None:
        """The library writes the rest when its last object is gone."""
        del self._points, self._archive


def _vectors(values: Array) -> Any:
    import imath

    numbers = np.ascontiguousarray(values, np.float32)
    return imath.V3fArrayFromBuffer(numbers) if len(numbers) else imath.V3fArray(0)


def _floats(values: Array) -> Any:
    import imath

    numbers = np.ascontiguousarray(values, np.float32)
    return imath.FloatArrayFromBuffer(numbers) if len(numbers) else imath.FloatArray(0)


def _whole(values: Array) -> Any:
    import imath

    numbers = np.ascontiguousarray(values, np.int32)
    return imath.IntArrayFromBuffer(numbers) if len(numbers) else imath.IntArray(0)


def _library() -> Any:
    try:
        import alembic3d
        import alembic3d.Abc
        import alembic3d.AbcCoreAbstract
        import alembic3d.AbcGeom
    except ImportError as error:
        raise MissingExtraError(
            "Alembic files need alembic3d, which is not here: pip install 'viscoil[alembic]'"
        ) from error
    return alembic3d
