"""What goes wrong for a user, through the real command: one clear sentence, and nothing is lost."""

import json
import math
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from fakes import ENVIRONMENT

GOOD = """\
[simulation]
spacing = 0.02
frames = 2

[materials.goo]
density = 1000.0
viscosity = 5.0

[[fluids]]
material = "goo"
shape = "box"
center = [0.0, 0.05, 0.0]
size = [0.1, 0.1, 0.1]

[[colliders]]
shape = "plane"

[[outputs]]
type = "frames"
channels = ["position", "id"]
"""
TWIN = """
[[fluids]]
material = "goo"
shape = "sphere"
center = [0.05, 0.05, 0.0]
radius = 0.05
"""
LIMITED = 'mount -t tmpfs -o "$1" none "$2" && shift 2 && exec "$@"'


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "viscoil", *map(str, arguments)]


def viscoil(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), capture_output=True, text=True, env=ENVIRONMENT, timeout=120
    )


def sentence(done: subprocess.CompletedProcess[str], code: int = 1) -> str:
    """The one line of errors, without a traceback."""
    assert done.returncode == code, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("viscoil: ")
    return line.removeprefix("viscoil: ")


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "drop.toml"
    path.write_text(GOOD)
    return path


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("frames = 2", "frames = ", ":3: this is not valid TOML"),
        (
            "frames = 2",
            "farmes = 2",
            ':3: simulation.farmes is no known key: did you mean "frames"',
        ),
        ("spacing = 0.02", 'spacing = "fine"', ':2: simulation.spacing is the text "fine" but'),
        ("spacing = 0.02", "spacing = 0", ":2: simulation.spacing is 0 but must be greater"),
        ("spacing = 0.02", "spacing = -1.0", ":2: simulation.spacing is -1.0 but must be greater"),
        ("spacing = 0.02", "spacing = nan", ":2: simulation.spacing is nan but must be"),
        ("frames = 2", "frames = 0", ":3: simulation.frames is 0 but must be"),
        ("frames = 2", "duration = 0.0", ":3: simulation.duration is 0.0 but must be greater"),
        ("frames = 2", "duration = -2.0", ":3: simulation.duration is -2.0 but must be greater"),
        ("frames = 2", "duration = inf", ":3: simulation.duration is inf but must be"),
        ("frames = 2", "frames = 2\ntime_step = 0.0", ":4: simulation.time_step is 0.0 but must"),
        ("frames = 2", "frames = 2\ntime_step = -0.1", ":4: simulation.time_step is -0.1 but must"),
        ("frames = 2", "frames = 2\nmax_time_step = nan", ":4: simulation.max_time_step is nan"),
        (
            "density = 1000.0",
            "density = 0.0",
            ":6: materials.goo.density is 0.0 but must be greater",
        ),
        ("density = 1000.0", "density = -1.0", ":6: materials.goo.density is -1.0 but must be"),
        ("viscosity = 5.0", "viscosity = -5.0", ":7: materials.goo.viscosity is -5.0 but must be"),
        ("viscosity = 5.0", "viscosity = nan", ":7: materials.goo.viscosity is nan but must be"),
        ("center = [0.0,", "center = [nan,", ":12: fluids.0.center.0 is nan but must be"),
        ('material = "goo"', 'material = "hony"', ':10: fluids.0.material ("hony")'),
    ],
    ids=lambda text: text.replace("\n", " ") if text.startswith(("frames =", "duration")) else None,
)
def test_mistakes_in_a_scene(scene: Path, old: str, new: str, words: str) -> None:
    """What is wrong, on which line, and nothing is written."""
    scene.write_text(GOOD.replace(old, new))
    said = sentence(viscoil("run", scene, "--out", scene.parent / "out"))
    assert said.startswith(f"{scene}{words}"), said
    assert not (scene.parent / "out").exists()


def test_check_says_the_same_as_run(scene: Path) -> None:
    scene.write_text(GOOD.replace("spacing = 0.02", "spacing = -1.0"))
    assert sentence(viscoil("check", scene)) == sentence(viscoil("run", scene))


def test_a_missing_file(tmp_path: Path) -> None:
    for verb in ("run", "check"):
        said = sentence(viscoil(verb, tmp_path / "absent.toml"))
        assert said.startswith(f"there is no scene file {tmp_path / 'absent.toml'}: ")


def test_an_empty_scene(scene: Path) -> None:
    scene.write_text("[simulation]\nspacing = 0.02\nframes = 2\n")
    out = scene.parent / "out"
    for done in (viscoil("check", scene), viscoil("run", scene, "--out", out)):
        assert "has no fluid: add" in sentence(done)
    scene.write_text("")
    assert "simulation" in sentence(viscoil("check", scene))
    assert not out.exists()


def test_fluids_that_overlap(scene: Path) -> None:
    scene.write_text(GOOD + TWIN)
    out = scene.parent / "out"
    for done in (viscoil("check", scene), viscoil("run", scene, "--out", out)):
        assert "overlap" in sentence(done)
    assert not out.exists()


def test_fluid_inside_a_collider_is_left_out_and_said(scene: Path) -> None:
    """The lowest of five layers of 25 lies below the floor."""
    lower = ("--set", "fluids.0.center=[0, 0.03, 0]")
    note = "note: fluids.0 (box of goo): 25 of 125 particles lie inside colliders and are left out"
    checked = viscoil("check", scene, *lower)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert f"  {note}" in checked.stdout.splitlines()
    ran = viscoil("run", scene, *lower, "--frames", "1", "--out", scene.parent / "out")
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert note in lines  # kernels may be compiled first, and said to be
    assert lines[-2].startswith("drop: 1 frame, ") and " 100 particles" in lines[-2]


def test_all_fluid_inside_colliders(scene: Path) -> None:
    done = viscoil("check", scene, "--set", "fluids.0.center=[0, -1, 0]")
    assert "all fluid lies inside colliders" in sentence(done)


def test_more_than_the_machine_has(scene: Path) -> None:
    """8e12 particles are refused by an estimate, before anything is allocated."""
    large = ("--set", "fluids.0.size=[400, 400, 400]")
    out = scene.parent / "out"
    for done in (viscoil("check", scene, *large), viscoil("run", scene, *large, "--out", out)):
        said = sentence(done)
        assert said.startswith("the scene needs about ")
        assert "GiB for 8,000,000,000,000 particles" in said
        assert said.endswith("use a larger simulation.spacing")
    assert not out.exists()


def test_more_than_any_machine_has(scene: Path) -> None:
    said = sentence(viscoil("check", scene, "--set", "simulation.scale=1e30"))
    assert said.startswith("the scene asks for ")
    assert said.endswith("use a larger simulation.spacing or a smaller simulation.scale")


def test_a_file_where_the_folder_should_be(scene: Path) -> None:
    assert "is a file: give another" in sentence(viscoil("run", scene, "--out", scene))
    assert "a file is in the way" in sentence(viscoil("run", scene, "--out", scene / "deeper"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("ro", "choose another folder with --out"),
        ("size=16k", "has 16.0 KiB left and a single state of the run takes 18.1 KiB"),
        ("size=32k", "the disk is full, so "),
    ],
    ids=["unwritable", "tiny", "full"],
)
def test_an_output_folder_that_takes_nothing(scene: Path, options: str, words: str) -> None:
    """On a file system of its own, where the system lets us mount one."""
    out = scene.parent / "disk"
    out.mkdir()
    mounted = ["unshare", "-rm", "sh", "-c", LIMITED, "sh", options, str(out)]
    try:
        subprocess.run([*mounted, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system does not let a user mount a file system")
    done = subprocess.run(
        [*mounted, *command("run", scene, "--quiet", "--out", out / "run")],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        timeout=120,
    )
    assert words in sentence(done)


def test_control_c_in_the_middle(scene: Path) -> None:
    """Exit code 130; the run goes on from where it was, to the same bits as without the break."""
    out, whole = scene.parent / "out", scene.parent / "whole"
    process = subprocess.Popen(
        command("run", scene, "--frames", "5000", "--out", out),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    )
    assert process.stdout is not None
    process.stdout.readline()  # the first frame is done
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.startswith("viscoil: stopped at frame ") and "--resume" in errors
    (saved,) = (out / "checkpoints").glob("step_*.npz")
    assert json.loads((out / "run.json").read_text())["state"] == "stopped"
    assert int(saved.stem.removeprefix("step_")) > 0
    frames = str(int(errors.split()[4]) + 1)
    resumed = viscoil("run", scene, "--frames", frames, "--out", out, "--resume", "--quiet")
    assert (resumed.returncode, resumed.stderr) == (0, "")
    viscoil("run", scene, "--frames", frames, "--out", whole, "--quiet")
    for path in sorted((whole / "frames").iterdir()):
        with np.load(path) as one, np.load(out / "frames" / path.name) as other:
            assert one["position"].tobytes() == other["position"].tobytes()


def test_a_run_that_diverges(scene: Path) -> None:
    """A block at 1000 km/s: stops, says where and what to try, and keeps the last good state."""
    out = scene.parent / "out"
    done = viscoil("run", scene, "--set", "fluids.0.velocity=[1e6, 0, 0]", "--out", out)
    said = sentence(done)
    assert said.startswith("the simulation diverged at step 1, t = ")
    speed = float(said.split("a particle moves at ")[1].split()[0])  # the floor slows some of it
    assert 1e5 < speed <= 1.01e6
    assert "): try a smaller simulation.max_time_step" in said
    assert json.loads((out / "run.json").read_text())["state"] == "diverged"
    with np.load(out / "checkpoints" / "step_000000000.npz") as good:
        assert len(good["position"]) == 125
        assert math.isclose(float(good["velocity"][:, 0].max()), 1e6)
