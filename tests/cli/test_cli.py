"""The command line as a user meets it: what it prints, where, and its exit code."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from viscoil.cli import main
from viscoil.scene import builtin_scenes

GOOD = """\
[simulation]
spacing = 0.1
duration = 1.0

[[fluids]]
material = "water"
shape = "sphere"
center = [0, 0, 0]
radius = 1
"""


def viscoil(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "viscoil", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=60)


def error_lines(done: subprocess.CompletedProcess[str], code: int) -> list[str]:
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines and all(line.startswith("viscoil: ") for line in lines), done.stderr
    sentences = [line.removeprefix("viscoil: ") for line in lines]
    assert not any(s[0].isupper() or s.endswith(".") for s in sentences), done.stderr
    return sentences


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "drop.toml"
    path.write_text(GOOD)
    return path


def test_help_names_every_command_and_answers_at_once() -> None:
    before = os.times()
    done = viscoil("--help")
    after = os.times()
    assert done.returncode == 0
    commands = ("run", "check", "info", "mesh", "render", "video", "export", "plot", "import")
    for command in (*commands, "scenes", "materials", "schema"):
        assert f"│ {command} " in done.stdout
    # 0.2 s of work; counted so, and not by the clock, because the machine is busy with tests
    assert after.children_user - before.children_user < 0.5


def test_run_help_names_every_option() -> None:
    page = viscoil("run", "--help").stdout
    for option in ("--set", "--frames", "--out", "--threads", "--arch", "--resume", "--quiet"):
        assert option in page
    for option in ("--until", "--force", "--checkpoint-seconds", "--checkpoint-frames"):
        assert option in page


@pytest.mark.parametrize(
    ("command", "out", "overwrite"),
    [
        ("export", "RUN/export/FORMAT", "Replace an export that is in the folder already."),
        ("mesh", "RUN/surface", "Make surfaces again that are there already."),
        ("render", "RUN/render, or RUN/turntable_FRAME", "Make pictures again that are there"),
    ],
)
def test_commands_that_take_frames_share_their_options(
    command: str, out: str, overwrite: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the same help, but for where each writes to and what it replaces."""
    assert main([command, "--help"]) == 0
    page = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for text in (  # versions of cyclopts differ in what stands before it
        "The folder that viscoil run wrote, such as runs/honey. [required]",
        "Which frames, such as 12, 10:50 (ends included), ::5, 0,10,20 or",
        f"Folder to write to (default: {out}).",
        overwrite,
    ):
        assert text in page
    assert {"--frames", "--out", "--overwrite"} <= {*page.split()}
    assert "--quiet Print only the final lines." in page
    assert "work" not in page  # the name that these options have together is ours


def test_version_is_one_word() -> None:
    done = viscoil("--version")
    assert done.returncode == 0 and len(done.stdout.split()) == 1


class TestCheck:
    def test_good_scene(self, scene: Path) -> None:
        done = viscoil("check", str(scene))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[0] == "drop: ok"
        assert "30 frames" in done.stdout and "water" in done.stdout

    def test_override(self, scene: Path) -> None:
        done = viscoil(
            "check", str(scene), "--set", "simulation.frames=7", "--set", "solver.support=3"
        )
        assert "7 frames" in done.stdout

    def test_every_problem_on_its_line(self, scene: Path) -> None:
        scene.write_text(GOOD.replace("spacing", "spcing").replace("radius = 1", "radius = -1"))
        assert error_lines(viscoil("check", str(scene)), 1) == [
            f'{scene}:2: simulation.spcing is no known key: did you mean "spacing"?',
            f"{scene}:9: fluids.0.radius is -1 but must be greater than 0 (radius, m)",
        ]

    def test_syntax_error(self, scene: Path) -> None:
        scene.write_text(GOOD.replace("duration = 1.0", "duration = "))
        (line,) = error_lines(viscoil("check", str(scene)), 1)
        assert line.startswith(f"{scene}:3: this is not valid TOML")

    def test_missing_file(self) -> None:
        assert error_lines(viscoil("check", "hony"), 1) == [
            'there is no scene file hony: did you mean the built-in scene "honey"?'
        ]

    def test_no_fluid(self, scene: Path) -> None:
        scene.write_text(GOOD.partition("[[fluids]]")[0])
        assert error_lines(viscoil("check", str(scene)), 1) == [
            "drop has no fluid: add [[fluids]] or [[emitters]]"
        ]

    def test_bad_override(self, scene: Path) -> None:
        (line,) = error_lines(viscoil("check", str(scene), "--set", "simulation.fps=0"), 1)
        assert line.startswith("--set simulation.fps: simulation.fps is 0 but must be greater")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rnu"], 'Did you mean "run"?'),
        (["run"], "requires an argument"),
        (["run", "honey", "--framse", "3"], "Did you mean --frames?"),
        (["run", "honey", "--frames", "x"], "--frames"),
        (["run", "honey", "--frames", "0"], "--frames"),
        (["run", "honey", "--threads", "0"], "--threads"),
        (["run", "honey", "--arch", "gpu"], "--arch"),
        (["run", "honey", "--checkpoint-seconds", "0"], "--checkpoint-seconds"),
        (["run", "honey", "--checkpoint-frames", "0"], "--checkpoint-frames"),
        (["run", "honey", "--keep-checkpoints", "1"], "--keep-checkpoints"),
        (["video", "runs/a", "--fps", "0"], "--fps"),
        (["check", "honey", "extra"], "extra"),
        (["--framse", "3"], "--framse"),
    ],
)
def test_wrong_usage(arguments: list[str], words: str) -> None:
    (line,) = error_lines(viscoil(*arguments), 2)
    assert words in line
    known = arguments[:1] if arguments[0] in ("run", "video", "check") else []
    assert line.endswith(f" (see {' '.join(['viscoil', *known, '--help'])})")


@pytest.mark.parametrize("until", ["soon", "1.5", "0"])
def test_an_end_that_is_none(until: str) -> None:
    (line,) = error_lines(viscoil("run", "honey", "--until", until), 1)
    assert line.startswith(f"--until {until} ")


def test_scenes_lists_names_and_descriptions() -> None:
    lines = viscoil("scenes").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(builtin_scenes())
    assert all(len(line.split()) > 3 and line.endswith(".") for line in lines)


def test_materials_lists_numbers_and_sources() -> None:
    done = viscoil("materials")
    assert done.stdout.count("Source: ") == 13
    assert "honey" in done.stdout and "8 Pa s" in done.stdout


def test_schema_is_json() -> None:
    schema = json.loads(viscoil("schema").stdout)
    assert "simulation" in schema["properties"]


def test_a_reader_that_leaves_is_no_error() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "viscoil", "scenes"]
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("command", "words"), [("run", "--resume goes on"), ("mesh", "finished files stay")]
)
def test_control_c_at_any_time(
    command: str, words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*arguments: object, **options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("viscoil.cli.app.app", interrupt)
    assert main([command, "honey"]) == 130
    said = capsys.readouterr().err
    assert words in said
    assert ("--resume" in said) == (command == "run")
