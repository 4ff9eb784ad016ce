"""Runs that go on: until when, and when their state is saved."""

from pathlib import Path

import pytest
from fakes import make
from hypothesis import given
from hypothesis import strategies as st
from run_rigs import TEXT, Capture, checkpoints, mark, notes, positions, simulate, state, tree

from viscoil.core.errors import RunError, Stopped
from viscoil.running.recording import CheckpointPlan, Recorder
from viscoil.running.resume import Start
from viscoil.running.runner import run
from viscoil.running.until import asked_frames, last_frame
from viscoil.runs.folder import RunFolder
from viscoil.runs.run import Run
from viscoil.scene import Scene


@pytest.fixture
def scene() -> Scene:
    return Scene.from_toml(TEXT)


@pytest.mark.parametrize(
    ("text", "fps", "frame"),
    [
        ("105", 30, 105), ("3.5s", 30, 105), ("3.5 s", 24, 84), ("500ms", 24, 12),
        ("2min", 10, 1200), ("0.1s", 30, 3), ("1e-1s", 30, 3), (".5s", 30, 15), ("1s", 29.97, 30),
        ("0.0001s", 30, 1), (" 7 ", 30, 7),
    ],
)  # fmt: skip
def test_times_and_frames(text: str, fps: float, frame: int) -> None:
    assert last_frame(text, fps) == frame


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "neither a time nor a frame"),
        ("-3", "neither a time nor a frame"),
        ("3h", "neither a time nor a frame: write it as 3.5s"),
        ("nan", "neither a time nor a frame"),
        ("3.5", "may be a time or a frame: write 3.5s for seconds"),
        ("0", "before the first frame"),
        ("0s", "before the first frame"),
        ("1e300s", "beyond frame"),
        ("9" * 5000, "beyond frame"),
    ],
)
def test_what_is_no_time(text: str, words: str) -> None:
    with pytest.raises(RunError, match=words):
        last_frame(text, 30.0)


@given(st.integers(1, 10**6), st.sampled_from([1.0, 12.5, 23.976, 24.0, 25.0, 30.0, 59.94, 1000.0]))
def test_the_time_of_a_frame_names_that_frame(frame: int, fps: float) -> None:
    """In the shortest digits that give the time back, and as a bare number."""
    assert last_frame(f"{frame / fps!r}s", fps) == frame
    assert last_frame(str(frame), fps) == frame


@given(st.text(max_size=12))
def test_any_text_is_a_frame_or_a_sentence(text: str) -> None:
    try:
        assert last_frame(text, 30.0) >= 1
    except RunError as error:
        assert str(error).startswith("--until")


def test_frames_and_until_exclude_each_other() -> None:
    assert (asked_frames(None, None, 30), asked_frames(4, None, 30)) == (None, 4)
    assert asked_frames(None, "1s", 30) == 30
    with pytest.raises(RunError, match="exclude each other"):
        asked_frames(4, "1s", 30)


class TestLength:
    def test_a_finished_run_goes_on_when_the_scene_is_longer(
        self, scene: Scene, tmp_path: Path
    ) -> None:
        longer = Scene.from_toml(TEXT.replace("frames = 4", "duration = 0.2"))
        simulate(longer, tmp_path / "whole")
        simulate(scene, tmp_path / "out")
        simulate(longer, tmp_path / "out", resume=True)
        assert positions(tmp_path / "out") == positions(tmp_path / "whole")

    def test_a_run_remembers_how_long_it_was_asked_to_be(
        self, scene: Scene, tmp_path: Path
    ) -> None:
        """`--until` once is enough: a resume without it goes on to the same end."""
        with pytest.raises(Stopped):
            run(scene, tmp_path, frames=6, quiet=True, make=make(interrupt_at=7))
        simulate(scene, tmp_path, resume=True)
        assert Run(tmp_path).frames == tuple(range(7))
        assert Run(tmp_path).scene.frames == 6

    def test_a_shorter_end(self, scene: Scene, tmp_path: Path) -> None:
        with pytest.raises(Stopped):
            run(scene, tmp_path, quiet=True, make=make(interrupt_at=4))
        simulate(scene, tmp_path, resume=True, frames=2)
        assert (Run(tmp_path).frames, state(tmp_path)) == ((0, 1, 2), "finished")

    def test_an_end_that_is_passed_removes_nothing(
        self, scene: Scene, tmp_path: Path, capsys: Capture
    ) -> None:
        simulate(scene, tmp_path)
        before = positions(tmp_path)
        simulate(scene, tmp_path, resume=True, frames=2)
        assert positions(tmp_path) == before
        assert notes(capsys) == ["the run is at frame 4 already, past 2: nothing is removed"]
        assert Run(tmp_path).scene.frames == 4

    @pytest.mark.parametrize("until", [1, 2, 3])
    def test_nor_does_one_that_is_passed_by_frames_without_a_checkpoint(
        self, scene: Scene, tmp_path: Path, capsys: Capture, until: int
    ) -> None:
        """Killed after frame 4, with a checkpoint of frame 2."""
        simulate(scene, tmp_path)
        for step in (9, 12):
            (tmp_path / "checkpoints" / f"step_{step:09}.npz").unlink()
        mark(tmp_path, state="running")
        before = tree(tmp_path)
        capsys.readouterr()
        simulate(scene, tmp_path, resume=True, frames=until)
        assert tree(tmp_path) == before
        said = capsys.readouterr().out
        assert said.startswith(
            f"note: the run is at frame 4 already, past {until}: nothing is removed\n"
            "drop: 4 frames, 12 steps, 5 particles, "
        )


def test_a_checkpoint_is_due_after_a_time(scene: Scene, tmp_path: Path) -> None:
    clock = [0.0]
    folder = RunFolder(tmp_path)
    start = Start(scene, {}, 4)
    recorder = Recorder(
        folder, start, "cpu", 1, CheckpointPlan(seconds=10), 0, clock=lambda: clock[0]
    )
    simulation = make()(scene, arch="cpu", threads=1, checkpoint=None, keep_settings=True)
    for now in (4.0, 10.0, 10.5, 20.0, 20.6):
        clock[0] = now
        simulation.step()
        recorder.checkpoint_if_due(simulation)
    recorder.close()
    assert checkpoints(tmp_path) == [3, 5]
