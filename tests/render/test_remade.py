"""What is made of a run is made again where it is damaged, and goes where it is of an earlier run."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from picture_rigs import snapshot, two_balls, written

from viscoil.cli import main
from viscoil.render.pictures import PictureSettings, Studio, View
from viscoil.runs.folder import RunFolder
from viscoil.runs.run import Run
from viscoil.snapshots.snapshot import Array
from viscoil.surface import read_surface


@pytest.fixture
def filmed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A run with pictures of two frames, a turntable, and something for the films of both."""

    def drawing(studio: Studio, view: View) -> Array:
        return np.zeros((16, 16, 3), np.uint8)

    monkeypatch.setattr(Studio, "picture", drawing)
    run = written(tmp_path / "run", {n: two_balls(n) for n in range(2)})
    assert main(["render", str(run.path), "--quiet"]) == 0
    assert main(["render", str(run.path), "--quiet", "--turntable", "2"]) == 0
    for name in ("video", "render", "turntable_000001", "mine"):
        (run.path / f"{name}.mp4").touch()
    return run


def films(run: Run) -> list[str]:
    return sorted(path.stem for path in run.path.glob("*.mp4"))


@pytest.mark.parametrize("damage", [slice(0), slice(7), slice(-1), slice(8, None)])
def test_a_damaged_picture_is_made_again(
    filmed: Run, damage: slice, capsys: pytest.CaptureFixture[str]
) -> None:
    """Although it is newer than its frame."""
    path = filmed.path / "render/frame_000001.png"
    whole = path.read_bytes()
    path.write_bytes(whole[damage])
    capsys.readouterr()
    for kept in ("1 was", "2 were"):
        assert main(["render", str(filmed.path), "--quiet"]) == 0
        assert f"2 pictures ({kept} there already)" in capsys.readouterr().out
    assert path.read_bytes() == whole


def test_a_film_goes_with_the_pictures_that_it_shows(
    filmed: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not with those of another folder, nor without --overwrite."""
    arguments = ["render", str(filmed.path), "--quiet"]
    assert main([*arguments, "--out", str(tmp_path / "render"), "--overwrite"]) == 0
    (filmed.path / "render/frame_000000.png").unlink()
    capsys.readouterr()
    assert main(arguments) == 0
    assert films(filmed) == ["mine", "render", "turntable_000001", "video"]
    again = f"Next: viscoil video {filmed.path} --pictures render"
    assert capsys.readouterr().out.splitlines()[-1] == f"{again} --overwrite"
    assert main([*arguments, "--frames", "1", "--overwrite"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert (
        f"note: {filmed.path}/render.mp4 showed the earlier pictures, and is gone with them" in said
    )
    assert said[-1] == again
    assert films(filmed) == ["mine", "turntable_000001", "video"]
    assert main([*arguments, "--turntable", "3", "--overwrite"]) == 0
    assert films(filmed) == ["mine", "video"]


def test_a_resume_removes_what_shows_later_frames(filmed: Run) -> None:
    folder = RunFolder(filmed.path)
    folder.cut_back(step=0, frame=1)
    assert len(films(filmed)) == 4 and (filmed.path / "turntable_000001").is_dir()
    folder.cut_back(step=0, frame=0)
    assert films(filmed) == ["mine", "video"]  # there is no preview whose pictures could go
    assert not (filmed.path / "turntable_000001").exists()
    assert (filmed.path / "render/frame_000000.png").is_file()


def test_a_new_run_removes_what_shows_the_earlier_one(filmed: Run) -> None:
    """Also films whose pictures are gone; what a user has put there or named stays."""
    shutil.rmtree(filmed.path / "render")
    turntable, own = filmed.path / "turntable_000001", filmed.path / "turntable_mine"
    (turntable / "notes.txt").write_text("mine")
    (turntable / ".frame_000007.part.png").touch()
    own.mkdir()
    for name in ("plot.png", "turntable_mine.mp4", "turntable_000007.mp4"):
        (filmed.path / name).touch()
    RunFolder(filmed.path).clear()
    assert films(filmed) == ["mine", "turntable_mine"]
    assert [path.name for path in turntable.iterdir()] == ["notes.txt"]
    assert own.is_dir() and not (filmed.path / "plot.png").exists()


@pytest.mark.parametrize("damage", [b"", b"ply\nformat", b"\0" * 9999, 0.5, 0.999])
def test_a_damaged_surface_is_made_again(
    tmp_path: Path, damage: bytes | float, capsys: pytest.CaptureFixture[str]
) -> None:
    """Although it is newer than its frame; an empty surface is whole."""
    run = written(tmp_path / "run", {0: two_balls(), 1: snapshot(np.zeros((0, 3)), 1)})
    arguments = ["mesh", str(run.path), "--quiet", "--processes", "1"]
    assert main(arguments) == 0
    path = run.path / "surface/frame_000000.ply"
    whole = path.read_bytes()
    path.write_bytes(damage if isinstance(damage, bytes) else whole[: int(damage * len(whole))])
    assert not Studio(run, PictureSettings(16, 16, 1, {})).surfaces([0])
    capsys.readouterr()
    assert main(arguments) == 0
    assert "2 surfaces (1 was there already)" in capsys.readouterr().out
    assert len(read_surface(path).faces) > 100
    assert main(arguments) == 0
    assert "2 surfaces (2 were there already)" in capsys.readouterr().out
