"""Runs with a fake simulation: what is written, what is refused, and how runs stop and go on."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fakes import ENVIRONMENT, RIGS, FakeSimulation, make
from run_rigs import TEXT, checkpoints, positions, stat_steps, state

from viscoil.core.errors import DivergedError, ResumeError, RunError, Stopped
from viscoil.running.recording import CheckpointPlan
from viscoil.running.runner import run
from viscoil.scene import Scene


@pytest.fixture
def scene() -> Scene:
    return Scene.from_toml(TEXT)


def test_a_whole_run(scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "deep" / "out"
    summary = run(scene, out, quiet=True, make=make())
    assert (summary.frames, summary.steps, summary.particles) == (4, 12, 5)
    assert list(positions(out)) == [f"frame_{i:06}.npz" for i in range(5)]
    assert stat_steps(out) == list(range(1, 13))
    assert (checkpoints(out), state(out)) == ([12], "finished")
    stored = json.loads((out / "run.json").read_text())["scene"]
    assert Scene.from_toml(stored) == scene
    said = re.sub(r"\d:\d\d of work", "a while", capsys.readouterr().out)
    assert said == f"drop: 4 frames, 12 steps, 5 particles, a while, in {out}\n"


def test_plain_lines_where_there_is_no_terminal(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(scene, tmp_path / "out", make=make())
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    expected = "frame 2/4  5 particles  density error 1.0e-03  step 11.11 ms  left "
    assert lines[1].startswith(expected)


def test_a_run_ends_with_what_to_do_next(
    scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    run(scene, out, make=make())
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"next: viscoil mesh {out} (surfaces), viscoil render {out} (pictures), "
        f"viscoil export {out} --to usd (other programs)"
    )
    (out / "video.mp4").touch()
    run(scene, out, resume=True, make=make())
    assert (
        capsys.readouterr().out.splitlines()[-1].startswith(f"see the film {out}/video.mp4; next")
    )
    (out / "preview.png").touch()
    os.utime(out / "video.mp4", ns=(0, 0))  # of an earlier picture
    run(scene, out, resume=True, make=make())
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith(f"see the latest picture {out}/preview.png; next")


def test_default_folder(scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(scene, quiet=True, make=make()).folder == Path("runs/drop")


def test_frames_replace_what_the_scene_says(scene: Scene, tmp_path: Path) -> None:
    assert run(scene, tmp_path / "out", frames=2, quiet=True, make=make()).frames == 2


@pytest.mark.parametrize(
    ("plan", "steps"),
    [
        (CheckpointPlan(seconds=0, keep=2), [11, 12]),
        (CheckpointPlan(seconds=0, keep=5), [4, 6, 9, 11, 12]),
        (CheckpointPlan(frames=1), [3, 6, 9, 12]),
        (CheckpointPlan(frames=3), [9, 12]),
        (CheckpointPlan(), [12]),
    ],
)
def test_checkpoints_are_kept_by_plan(
    scene: Scene, tmp_path: Path, plan: CheckpointPlan, steps: list[int]
) -> None:
    run(scene, tmp_path / "out", checkpoints=plan, quiet=True, make=make())
    assert checkpoints(tmp_path / "out") == steps


def test_no_checkpoint_before_it_is_time(scene: Scene, tmp_path: Path) -> None:
    with pytest.raises(DivergedError):
        run(scene, tmp_path / "out", quiet=True, make=make(nan_at=11))
    assert not (tmp_path / "out" / "checkpoints").exists()


def test_notes_are_shown(scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(scene, tmp_path / "out", make=make(notes=["3 particles are left out"]))
    assert capsys.readouterr().out.splitlines()[0] == "note: 3 particles are left out"
    run(scene, tmp_path / "quiet", quiet=True, make=make(notes=["3 particles are left out"]))
    assert "left out" not in capsys.readouterr().out


class TestStopping:
    @pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
    def test_state_is_kept_and_resume_gives_the_same_bits(
        self, scene: Scene, tmp_path: Path, number: signal.Signals, code: int
    ) -> None:
        run(scene, tmp_path / "whole", quiet=True, make=make())
        out = tmp_path / "out"
        with pytest.raises(Stopped) as stop:
            run(scene, out, quiet=True, make=make(interrupt_at=7, signal=number))
        assert stop.value.code == code
        assert str(stop.value) == (
            "stopped at frame 2 of 4, step 7; the state is saved: "
            "give the same command with --resume to go on"
        )
        assert (checkpoints(out), state(out)) == ([7], "stopped")
        run(scene, out, resume=True, quiet=True, make=make())
        assert positions(out) == positions(tmp_path / "whole")
        assert stat_steps(out) == list(range(1, 13))
        assert state(out) == "finished"

    def test_the_handlers_are_put_back(self, scene: Scene, tmp_path: Path) -> None:
        before = signal.getsignal(signal.SIGINT)
        run(scene, tmp_path / "out", quiet=True, make=make())
        assert signal.getsignal(signal.SIGINT) is before

    def test_a_second_signal_stops_at_once(self, scene: Scene, tmp_path: Path) -> None:
        with pytest.raises(KeyboardInterrupt):
            run(scene, tmp_path / "out", quiet=True, make=make(interrupt_at=7, times=2))
        assert not (tmp_path / "out" / "checkpoints").exists()

    def test_a_crash_after_a_checkpoint(self, scene: Scene, tmp_path: Path) -> None:
        """Steps and frames from after the checkpoint are done again, not doubled."""
        run(scene, tmp_path / "whole", quiet=True, make=make())
        out = tmp_path / "out"
        with pytest.raises(DivergedError):
            run(scene, out, quiet=True, checkpoints=CheckpointPlan(seconds=0), make=make(nan_at=11))
        for step in checkpoints(out)[1:]:
            (out / "checkpoints" / f"step_{step:09}.npz").unlink()
        run(scene, out, resume=True, quiet=True, make=make())
        assert positions(out) == positions(tmp_path / "whole")
        assert stat_steps(out) == list(range(1, 13))


class TestDivergence:
    def test_says_the_step_the_reason_and_what_to_try(self, scene: Scene, tmp_path: Path) -> None:
        with pytest.raises(DivergedError) as caught:
            run(scene, tmp_path / "out", quiet=True, make=make(diverge_at=5))
        assert str(caught.value) == (
            "the simulation diverged at step 5, t = 0.0555556 s (faster than sound): "
            "try a smaller simulation.max_time_step (or time_step), or more "
            "solver.velocity_iterations; --resume --force goes on with that from the last good state"
        )
        assert state(tmp_path / "out") == "diverged"

    def test_the_last_good_state_is_kept(self, scene: Scene, tmp_path: Path) -> None:
        run(scene, tmp_path / "whole", quiet=True, make=make())
        out = tmp_path / "out"
        with pytest.raises(DivergedError):
            run(scene, out, quiet=True, make=make(diverge_at=11))
        assert checkpoints(out) == [9]
        run(scene, out, resume=True, quiet=True, make=make())
        assert positions(out) == positions(tmp_path / "whole")

    def test_figures_that_are_no_numbers(self, scene: Scene, tmp_path: Path) -> None:
        with pytest.raises(DivergedError, match="density_error_mean is nan"):
            run(scene, tmp_path / "out", quiet=True, make=make(nan_at=5))
        assert stat_steps(tmp_path / "out") == [1, 2, 3, 4]


class TestFolders:
    def test_foreign_files_are_left_alone(self, scene: Scene, tmp_path: Path) -> None:
        (tmp_path / "thesis.txt").write_text("years of work")
        for overwrite in (False, True):
            with pytest.raises(RunError, match="has files that are not of a run"):
                run(scene, tmp_path, overwrite=overwrite, make=make())

    def test_a_file_in_the_way(self, scene: Scene, tmp_path: Path) -> None:
        (tmp_path / "out").write_text("")
        with pytest.raises(RunError, match="is a file: give another folder with --out"):
            run(scene, tmp_path / "out", make=make())

    def test_a_run_is_not_replaced_unasked(self, scene: Scene, tmp_path: Path) -> None:
        run(scene, tmp_path, quiet=True, make=make())
        with pytest.raises(RunError, match="--resume, replace it with --overwrite, or give"):
            run(scene, tmp_path, quiet=True, make=make())

    def test_overwrite(self, scene: Scene, tmp_path: Path) -> None:
        run(scene, tmp_path, quiet=True, make=make())
        (tmp_path / "notes.txt").write_text("mine")
        run(scene, tmp_path, frames=2, overwrite=True, quiet=True, make=make())
        assert list(positions(tmp_path)) == [f"frame_{i:06}.npz" for i in range(3)]
        assert (stat_steps(tmp_path), checkpoints(tmp_path)) == ([1, 2, 3, 4, 5, 6], [6])
        assert (tmp_path / "notes.txt").read_text() == "mine"

    def test_a_run_that_cannot_start_removes_nothing(self, scene: Scene, tmp_path: Path) -> None:
        run(scene, tmp_path, quiet=True, make=make())
        before = positions(tmp_path)

        def too_large(*_: Any, **__: Any) -> FakeSimulation:
            raise RunError("not enough memory")

        with pytest.raises(RunError, match="memory"):
            run(scene, tmp_path, overwrite=True, quiet=True, make=too_large)
        assert positions(tmp_path) == before

    def test_resume_and_overwrite_exclude_each_other(self, scene: Scene, tmp_path: Path) -> None:
        with pytest.raises(RunError, match="exclude each other"):
            run(scene, tmp_path, resume=True, overwrite=True, make=make())


class TestResume:
    def test_nothing_to_resume_starts_from_the_beginning(
        self, scene: Scene, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """So that one command, given again and again, brings a run through any number of kills."""
        run(scene, tmp_path / "out", resume=True, make=make())
        assert capsys.readouterr().out.splitlines()[0] == (
            f"note: there is no run in {tmp_path / 'out'} to resume: it starts from the beginning"
        )
        assert stat_steps(tmp_path / "out") == list(range(1, 13))

    def test_nothing_to_resume_among_files_of_others(self, scene: Scene, tmp_path: Path) -> None:
        (tmp_path / "thesis.txt").write_text("years of work")
        with pytest.raises(RunError, match="has files that are not of a run"):
            run(scene, tmp_path, resume=True, make=make())

    def test_what_a_start_leaves_that_was_killed(self, scene: Scene, tmp_path: Path) -> None:
        (tmp_path / ".lock").touch()
        (tmp_path / ".run.part.json").write_text("{")
        run(scene, tmp_path, quiet=True, make=make())
        assert not (tmp_path / ".run.part.json").exists()

    def test_a_longer_run(self, scene: Scene, tmp_path: Path) -> None:
        run(scene, tmp_path / "whole", frames=6, quiet=True, make=make())
        run(scene, tmp_path / "out", quiet=True, make=make())
        run(scene, tmp_path / "out", frames=6, resume=True, quiet=True, make=make())
        assert positions(tmp_path / "out") == positions(tmp_path / "whole")

    def test_a_finished_run_stays_as_it_is(self, scene: Scene, tmp_path: Path) -> None:
        run(scene, tmp_path, quiet=True, make=make())
        before = positions(tmp_path)
        assert run(scene, tmp_path, resume=True, quiet=True, make=make()).steps == 12
        assert positions(tmp_path) == before

    def test_without_a_checkpoint_it_starts_again(self, scene: Scene, tmp_path: Path) -> None:
        with pytest.raises(DivergedError):
            run(scene, tmp_path, quiet=True, make=make(nan_at=8))
        run(scene, tmp_path, resume=True, quiet=True, make=make())
        assert stat_steps(tmp_path) == list(range(1, 13))

    def test_another_scene_is_refused_by_its_keys(self, scene: Scene, tmp_path: Path) -> None:
        run(scene, tmp_path, quiet=True, make=make())
        text = TEXT.replace("radius = 1", "radius = 2").replace("density = 2", "density = 3")
        with pytest.raises(ResumeError) as caught:
            run(Scene.from_toml(text), tmp_path, resume=True, make=make())
        assert str(caught.value) == (
            f"the scene differs from the one in {tmp_path}: fluids.0.radius is 2.0 and was 1.0, "
            "materials.b.density is 3.0 and was 2.0; undo that, go on with the change with "
            "--force, or start anew with --overwrite or another --out"
        )

    def test_the_order_of_materials_counts(self, scene: Scene, tmp_path: Path) -> None:
        run(scene, tmp_path, quiet=True, make=make())
        head, a, b, rest = TEXT.replace("[[fluids]]", "[materials.][[fluids]]").split("[materials.")
        swapped = f"{head}[materials.{b}[materials.{a}{rest.removeprefix(']')}"
        with pytest.raises(ResumeError, match=r"materials is \[b, a\] and was \[a, b\]; undo"):
            run(Scene.from_toml(swapped), tmp_path, resume=True, make=make())

    @pytest.mark.parametrize("content", ["{", "[]", "{}", '{"scene": 3}', '{"scene": "a ="}'])
    def test_damaged_run_file(self, scene: Scene, tmp_path: Path, content: str) -> None:
        (tmp_path / "run.json").write_text(content)
        with pytest.raises(RunError, match=r"run\.json is damaged: run the scene again with"):
            run(scene, tmp_path, resume=True, make=make())


class TestCommand:
    """`viscoil run` in a process of its own, with the fake in place of the solver."""

    def start(self, folder: Path, *arguments: str, **plan: Any) -> "subprocess.Popen[str]":
        (folder / "drop.toml").write_text(TEXT)
        fake = str(RIGS / "fakes.py")
        command = [sys.executable, fake, json.dumps(plan), "run", "drop.toml", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, stdout=pipe, stderr=pipe, text=True, cwd=folder, env=ENVIRONMENT
        )

    def finish(self, folder: Path, *arguments: str, **plan: Any) -> tuple[int, str, str]:
        process = self.start(folder, *arguments, **plan)
        output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors

    def test_quiet_prints_only_the_final_line(self, tmp_path: Path) -> None:
        code, output, errors = self.finish(tmp_path, "--quiet", "--frames", "2")
        assert (code, errors) == (0, "")
        assert output.startswith("drop: 2 frames, 6 steps") and output.count("\n") == 1
        assert (tmp_path / "runs" / "drop" / "run.json").is_file()

    def test_divergence(self, tmp_path: Path) -> None:
        code, _, errors = self.finish(tmp_path, "--out", "o", diverge_at=5)
        assert code == 1
        assert errors.startswith("viscoil: the simulation diverged at step 5")
        assert errors.count("\n") == 1

    def test_control_c_then_resume(self, tmp_path: Path) -> None:
        process = self.start(tmp_path, "--out", "o", seconds=0.2)
        assert process.stdout is not None
        process.stdout.readline()  # the first frame is done, so the run is under way
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert errors.startswith("viscoil: stopped at frame ")
        assert errors.endswith("give the same command with --resume to go on\n")
        assert self.finish(tmp_path, "--out", "o")[0] == 1
        code, _, errors = self.finish(tmp_path, "--out", "o", "--resume")
        assert (code, errors) == (0, "")
        assert stat_steps(tmp_path / "o") == list(range(1, 13))
