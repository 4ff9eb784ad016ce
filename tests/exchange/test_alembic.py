"""Alembic archives, read back by the Alembic library."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange_rigs import write_run

from viscoil.core.errors import MissingExtraError
from viscoil.exchange import export, find_format
from viscoil.runs.run import Run


def points(path: Path, material: str, time: float) -> tuple[Any, Any]:
    """The points of a material at a time (s), and their widths."""
    from alembic3d.Abc import IArchive, ISampleSelector
    from alembic3d.AbcGeom import IPoints

    archive = IArchive(str(path))
    schema = IPoints(archive.getTop(), material).getSchema()
    at = ISampleSelector(float(time))
    return schema.getValue(at), schema.getWidthsParam().getExpandedValue(at).getVals()


def compare(path: Path, run: Run, frame: int, shown: int | None = None) -> None:
    """What the archive shows at a frame against a frame of the run, bit for bit."""
    channels = run.snapshot(frame if shown is None else shown).channels
    for k, name in enumerate(run.scene.materials):
        here = channels["material"] == k
        found, widths = points(path, name, frame / run.fps)
        np.testing.assert_array_equal(np.asarray(found.getPositions()), channels["position"][here])
        np.testing.assert_array_equal(np.asarray(found.getVelocities()), channels["velocity"][here])
        np.testing.assert_array_equal(list(found.getIds()), channels["id"][here])
        expected = np.float32(0.25) * channels["size"][here]
        np.testing.assert_array_equal(list(widths), expected)


def test_every_number_is_read_back(tmp_path: Path) -> None:
    write_run(tmp_path)
    done = export(tmp_path, "alembic", processes=1, quiet=True, channels=["velocity", "id"])
    assert done.opens == tmp_path / "export" / "alembic" / "shot.abc"
    run = Run(tmp_path)
    for frame in run.frames:
        compare(done.opens, run, frame)


def test_gaps_hold_the_frame_before(tmp_path: Path) -> None:
    write_run(tmp_path, (2, 3, 6))
    done = export(tmp_path, "alembic", processes=1, quiet=True)
    run = Run(tmp_path)
    for frame, shown in ((2, 2), (3, 3), (4, 3), (5, 3), (6, 6)):
        compare(done.opens, run, frame, shown)


def test_strides_and_single_frames(tmp_path: Path) -> None:
    write_run(tmp_path, range(5))
    run = Run(tmp_path)
    done = export(tmp_path, "alembic", frames="::2", processes=1, quiet=True)
    for frame in (0, 2, 4):
        compare(done.opens, run, frame)
    done = export(tmp_path, "alembic", frames="3", overwrite=True, processes=1, quiet=True)
    compare(done.opens, run, 3)


def test_no_particles(tmp_path: Path) -> None:
    write_run(tmp_path, (0,), count=0)
    done = export(tmp_path, "alembic", processes=1, quiet=True)
    found, _ = points(done.opens, "honey", 0.0)
    assert len(found.getPositions()) == 0


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "alembic3d", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'viscoil\[alembic\]'"):
        find_format("alembic").prepare()
