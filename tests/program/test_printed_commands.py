"""Commands that we print can be pasted into a shell, whatever the folders are called."""

import re
from pathlib import Path

import numpy as np
import pytest
from fakes import make
from picture_rigs import two_balls, written
from printed import printed_commands
from run_rigs import TEXT

import viscoil
from viscoil.cli import main
from viscoil.render.pictures import Studio, View
from viscoil.running.runner import run as run_scene
from viscoil.runs.run import Run
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Array

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """In a folder that no shell takes as it is."""
    return written(tmp_path / "an artist's $HOME; shots" / "take 2", {0: two_balls()})


def commands(capsys: Capture, folder: Path, *arguments: str | Path) -> list[list[str]]:
    """What a command names at its end; each names the run's folder as one word."""
    assert main([str(a) for a in arguments]) == 0
    found = printed_commands(capsys.readouterr().out)
    assert all(str(folder) in words for words in found)
    return found


def test_commands_that_make_something_of_a_run(
    run: Run, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drawing(studio: Studio, view: View) -> Array:
        return np.zeros((16, 16, 3), np.uint8)

    monkeypatch.setattr(Studio, "picture", drawing)
    folder, one = run.path, ("--processes", "1")
    bare, video = commands(capsys, folder, "render", folder)
    assert bare == ["mesh", str(folder)]  # which would keep the surface
    assert video == ["video", str(folder), "--pictures", "render"]
    (video,) = commands(capsys, folder, "render", folder, "--turntable", "2")[1:]
    assert video == ["video", str(folder), "--pictures", str(folder / "turntable_000000")]
    assert commands(capsys, folder, *video) == [["render", str(folder)]]
    (folder / "surface").mkdir()
    usd = commands(capsys, folder, "export", folder, "--to", "usd", *one)
    assert usd == [["mesh", str(folder)]]
    (folder / "surface").rmdir()
    assert commands(capsys, folder, "mesh", folder, *one) == [["render", str(folder)]]
    named = {words[0] for words in commands(capsys, folder, "info", folder)}
    assert named == {"mesh", "render", "export", "plot"}


def test_the_end_of_a_run(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "two words"
    run_scene(Scene.from_toml(TEXT), folder, make=make())
    found = printed_commands(capsys.readouterr().out)
    assert [words[0] for words in found] == ["mesh", "render", "export"]
    assert all(str(folder) in words for words in found)
    assert main(["video", str(folder), "--pictures", "render"]) == 1
    assert printed_commands(capsys.readouterr().err.removeprefix("viscoil: ")) == [
        ["render", str(folder)]
    ]


def test_no_text_names_a_path_without_quotes() -> None:
    """A path that is put right behind a command's name would break at its first space."""
    root = Path(viscoil.__file__).parent
    bare = re.compile(r"viscoil [a-z]+ (?:[\w-]+ )*\{")
    found = [path for path in root.rglob("*.py") if bare.search(path.read_text(encoding="utf-8"))]
    assert found == []
