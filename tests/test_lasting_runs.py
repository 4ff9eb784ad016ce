"""Runs that go on: until when, from which checkpoint, with which scene, and on which disk."""

import errno
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from fakes import make
from hypothesis import given
from hypothesis import strategies as st
from test_runner import TEXT, checkpoints, positions, stat_steps, state

from viscoil.errors import DivergedError, ResumeError, RunError, Stopped
from viscoil.outputs import files, stats
from viscoil.outputs.run_folder import RunFolder
from viscoil.running import disk
from viscoil.running.differences import misfit
from viscoil.running.recording import CheckpointPlan, Recorder
from viscoil.running.resume import Start, find_start
from viscoil.running.runner import run
from viscoil.running.until import asked_frames, last_frame
from viscoil.runs import Run
from viscoil.scene import Scene

EVERY_FRAME = CheckpointPlan(frames=1, keep=9)
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def scene() -> Scene:
    return Scene.from_toml(TEXT)


def simulate(scene: Scene, out: Path, **how: Any) -> None:
    run(scene, out, make=make(), **{"checkpoints": EVERY_FRAME, **how})


def notes(capsys: Capture) -> list[str]:
    lines = capsys.readouterr().out.splitlines()
    return [line.removeprefix("note: ") for line in lines if line.startswith("note: ")]


def tree(folder: Path) -> dict[str, bytes]:
    """Every file but the lock, and what is in it."""
    paths = [p for p in sorted(folder.rglob("*")) if p.is_file() and p.name != ".lock"]
    return {str(p.relative_to(folder)): p.read_bytes() for p in paths}


def mark(folder: Path, **changes: Any) -> None:
    """Changes what run.json says."""
    path = folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


# Until when


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


# When the state is saved


def test_a_checkpoint_is_due_after_a_time(scene: Scene, tmp_path: Path) -> None:
    clock = [0.0]
    folder = RunFolder(tmp_path)
    start = Start(scene, {}, 4)
    recorder = Recorder(folder, start, "cpu", 1, CheckpointPlan(seconds=10), 0, lambda: clock[0])
    simulation = make()(scene, arch="cpu", threads=1, checkpoint=None, keep_settings=True)
    for now in (4.0, 10.0, 10.5, 20.0, 20.6):
        clock[0] = now
        simulation.step()
        recorder.checkpoint_if_due(simulation)
    assert checkpoints(tmp_path) == [3, 5]


# With which scene


def other(old: str, new: str) -> Scene:
    return Scene.from_toml(TEXT.replace(old, new))


class TestChangedScene:
    def test_force_goes_on_with_the_change_and_notes_it(
        self, scene: Scene, tmp_path: Path, capsys: Capture
    ) -> None:
        with pytest.raises(Stopped):
            run(scene, tmp_path, quiet=True, make=make(interrupt_at=7))
        thick = other("viscosity = 2", "viscosity = 5")
        with pytest.raises(ResumeError, match=r"materials\.b\.viscosity is 5\.0 and was 2\.0"):
            simulate(thick, tmp_path, resume=True)
        capsys.readouterr()
        simulate(thick, tmp_path, resume=True, force=True)
        change = "materials.b.viscosity is 5.0 and was 2.0"
        assert notes(capsys) == [f"the run goes on with changes: {change}"]
        record = json.loads((tmp_path / "run.json").read_text())
        assert record["forced"] == [{"step": 7, "changes": [change]}]
        assert Run(tmp_path).scene.materials["b"].viscosity == 5.0
        assert stat_steps(tmp_path) == list(range(1, 13))
        simulate(thick, tmp_path, resume=True)  # now it is the scene of the run
        with pytest.raises(ResumeError):
            simulate(scene, tmp_path, resume=True)

    def test_settings_of_older_checkpoints_are_not_taken(
        self, scene: Scene, tmp_path: Path
    ) -> None:
        """A kill right after --force leaves a checkpoint from before the change."""
        with pytest.raises(Stopped):
            run(scene, tmp_path, quiet=True, make=make(interrupt_at=7))
        thick = other("viscosity = 2", "viscosity = 5")
        with pytest.raises(DivergedError):
            run(thick, tmp_path, quiet=True, resume=True, force=True, make=make(nan_at=8))
        assert not find_start(tmp_path, thick, resume=True).keep_settings
        simulate(thick, tmp_path, resume=True)
        assert find_start(tmp_path, thick, resume=True).keep_settings

    def test_a_state_from_before_a_change_is_not_gone_back_to(
        self, scene: Scene, tmp_path: Path, capsys: Capture
    ) -> None:
        """Its steps were done with another material, which is no longer known."""
        with pytest.raises(Stopped):
            run(scene, tmp_path, quiet=True, make=make(interrupt_at=7), checkpoints=EVERY_FRAME)
        thick = other("viscosity = 2", "viscosity = 5")
        simulate(thick, tmp_path, resume=True, force=True)
        capsys.readouterr()
        for frame in (2, 3, 4):
            Run(tmp_path).frame_path(frame).unlink()
        simulate(thick, tmp_path, resume=True)
        assert notes(capsys) == [
            "frame 2 is missing or damaged and lost: no checkpoint is from before",
            "frames 3, 4 are missing or damaged: the run goes back from frame 4 to the checkpoint "
            "at frame 2 to do it again",
        ]
        for step in (7, 9, 12):
            (tmp_path / "checkpoints" / f"step_{step:09}.npz").write_bytes(b"")
        before = tree(tmp_path)
        with pytest.raises(ResumeError, match="changed after step 7 and no checkpoint"):
            simulate(thick, tmp_path, resume=True)
        assert tree(tmp_path) == before

    def test_force_alone_is_told(self, scene: Scene, tmp_path: Path) -> None:
        with pytest.raises(RunError, match="--force works with --resume only"):
            simulate(scene, tmp_path, force=True)

    def test_name_and_description_may_change(self, scene: Scene, tmp_path: Path) -> None:
        simulate(scene, tmp_path)
        simulate(other('name = "drop"', 'name = "drip"'), tmp_path, resume=True)

    @pytest.mark.parametrize(
        ("old", "new", "reason"),
        [
            ("spacing = 0.1", "spacing = 0.2", "cannot change their spacing"),
            ("frames = 4", "frames = 4\nfps = 12", "frames are counted at 30 per second"),
            ("frames = 4", "frames = 4\nperiodic = [9, 0, 0]", "periodic box"),
            ("radius = 1", "radius = 1\nchannels = { dye = 1.0 }", "other channels"),
            ("[materials.a]", "[materials.c]\ndensity = 1\nviscosity = 1\n[materials.a]",
             "in the order a, b"),
            ("[[outputs]]", '[[emitters]]\nmaterial = "a"\nshape = "disc"\ncenter = [0, 9, 0]\n'
             "direction = [0, -1, 0]\nradius = 1\nspeed = 1\n[[outputs]]", "it has 0 emitters"),
            ("[[outputs]]", '[[colliders]]\nshape = "sphere"\ncenter = [5, 5, 5]\nradius = 1\n'
             "dynamic = true\ndensity = 500\n[[outputs]]", "other rigid bodies"),
        ],
    )  # fmt: skip
    def test_what_no_state_fits(
        self, scene: Scene, tmp_path: Path, old: str, new: str, reason: str
    ) -> None:
        simulate(scene, tmp_path)
        before = positions(tmp_path)
        with pytest.raises(ResumeError, match=f"does not fit the changed scene .*{reason}"):
            simulate(other(old, new), tmp_path, resume=True, force=True)
        assert positions(tmp_path) == before

    def test_materials_may_be_added_at_the_end(self, scene: Scene) -> None:
        added = "[materials.c]\ndensity = 1\nviscosity = 3\n[[fluids]]"
        assert misfit(scene, other("[[fluids]]", added)) is None

    def test_many_changes_are_counted(self, scene: Scene, tmp_path: Path) -> None:
        simulate(scene, tmp_path)
        text = TEXT.replace("density = ", "density = 7").replace("viscosity = ", "viscosity = 7")
        text = text.replace("radius = 1", "radius = 3").replace("center = [0", "center = [4")
        text = text.replace("frames = 4", "frames = 4\ncfl = 0.2\nseed = 3")
        with pytest.raises(ResumeError, match=", and 2 more; undo that"):
            simulate(Scene.from_toml(text), tmp_path, resume=True)

    def test_other_versions_are_told(self, scene: Scene, tmp_path: Path, capsys: Capture) -> None:
        simulate(scene, tmp_path)
        path = tmp_path / "run.json"
        record = json.loads(path.read_text())
        record["versions"]["quadrants"] = "0.1"
        path.write_text(json.dumps(record))
        simulate(scene, tmp_path, resume=True)
        (note,) = notes(capsys)
        assert note.startswith("the run began with quadrants 0.1 (now ")


class TestNamedFiles:
    TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"

    def scene(self, mesh: Path) -> Scene:
        return other("[[outputs]]", f'[[colliders]]\nshape = "mesh"\nfile = "{mesh}"\n[[outputs]]')

    def test_a_changed_mesh_is_told(self, tmp_path: Path) -> None:
        mesh, out = tmp_path / "wall.obj", tmp_path / "out"
        mesh.write_text(self.TRIANGLE)
        simulate(self.scene(mesh), out)
        simulate(self.scene(mesh), out, resume=True)
        mesh.write_text(self.TRIANGLE.replace("v 1", "v 2"))
        with pytest.raises(ResumeError, match=r"mesh file .*wall\.obj has changed since the run"):
            simulate(self.scene(mesh), out, resume=True)
        simulate(self.scene(mesh), out, resume=True, force=True)
        simulate(self.scene(mesh), out, resume=True)

    def test_a_mesh_that_moved_is_the_same(self, tmp_path: Path) -> None:
        mesh, out = tmp_path / "wall.obj", tmp_path / "out"
        mesh.write_text(self.TRIANGLE)
        simulate(self.scene(mesh), out)
        moved = mesh.rename(tmp_path / "moved.obj")
        simulate(self.scene(moved), out, resume=True)
        moved.write_text(self.TRIANGLE.replace("v 1", "v 2"))
        with pytest.raises(ResumeError, match="has changed since"):
            simulate(self.scene(moved), out, resume=True)

    def test_a_folder_of_meshes_counts_as_its_files(self, tmp_path: Path) -> None:
        meshes, out = tmp_path / "meshes", tmp_path / "out"
        meshes.mkdir()
        for k in range(2):
            (meshes / f"wall_{k}.obj").write_text(self.TRIANGLE)
        simulate(self.scene(meshes), out)
        (meshes / "wall_1.obj").write_text(self.TRIANGLE.replace("v 1", "v 2"))
        with pytest.raises(ResumeError, match="has changed since"):
            simulate(self.scene(meshes), out, resume=True)


# On which disk, and alone


class LimitedDisk:
    """A disk with so many bytes left, for what is written through `open` in our modules."""

    def __init__(self, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room = room
        for module in (files, stats):
            monkeypatch.setattr(module, "open", self.open, raising=False)

    def open(self, path: Path, mode: str, buffering: int = -1) -> Any:
        if "r" in mode:
            return open(path, mode)
        raw = LimitedFile(path, mode)
        raw.disk = self
        return raw if buffering == 0 else io.BufferedWriter(raw)


class LimitedFile(io.FileIO):
    disk: LimitedDisk

    def write(self, data: Any) -> int:
        data = memoryview(data)[: self.disk.room]
        if not len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self.disk.room -= len(data)
        return super().write(data)


def test_a_full_disk_at_any_byte_keeps_what_there_was(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run writes 21 kB; wherever the room ends, a resume gives the same bits."""
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    simulate(scene, tmp_path / "whole", quiet=True)
    full = 0
    for room in range(1, 30_000, 1103):
        out = tmp_path / str(room)
        with monkeypatch.context() as patch:
            LimitedDisk(room, patch)
            try:
                simulate(scene, out, quiet=True)
            except RunError as error:
                full += 1
                assert str(error).startswith("the disk is full, so ")
                assert "free some space, then use --resume" in str(error)
        simulate(scene, out, resume=True, quiet=True)
        assert positions(out) == positions(tmp_path / "whole")
        assert stat_steps(out) == list(range(1, 13))
        assert not list(out.rglob(".*.part*"))
    assert 15 < full < 27


@pytest.mark.parametrize("plan", [{}, {"nan_at": 8}])
def test_outputs_are_closed_when_the_state_cannot_be_written(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: dict[str, int]
) -> None:
    closed = []
    write, close = Recorder.state, Recorder.close

    def refuse(recorder: Recorder, state: str) -> None:
        if state != "running":
            raise RunError("the disk is full")
        write(recorder, state)

    def note(recorder: Recorder) -> None:
        closed.append(True)
        close(recorder)

    monkeypatch.setattr(Recorder, "state", refuse)
    monkeypatch.setattr(Recorder, "close", note)
    with pytest.raises(RunError, match="diverged" if plan else "the disk is full"):
        run(scene, tmp_path, quiet=True, make=make(**plan))
    assert closed == [True]


def test_room_is_checked_before(
    scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr(RunFolder, "free_bytes", lambda self: 100)
    with pytest.raises(RunError, match=r"has 100 bytes left and a single state .* takes"):
        simulate(scene, tmp_path / "out")
    assert not (tmp_path / "out" / "run.json").exists()
    monkeypatch.setattr(RunFolder, "free_bytes", lambda self: 5000)
    simulate(scene, tmp_path / "out")
    (note,) = notes(capsys)
    assert note.startswith("the run will write about ") and "4.9 KiB left" in note


def test_the_room_of_a_run_is_known() -> None:
    """1000 particles of 24 bytes in 5 frames, and 2 states of 120 bytes, with stress."""
    text = TEXT.replace('shape = "sphere"', 'shape = "box"').replace(
        "radius = 1", "size = [1, 1, 1]"
    )
    scene = Scene.from_toml(text.replace('["position", "id"]', '["position", "velocity"]'))
    assert disk.run_bytes(scene, 0, 1000, 2) == 5 * 1000 * 24 + 2 * 1000 * 120


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (2**40, "1024.0 GiB")],
)
def test_sizes_are_readable(count: int, text: str) -> None:
    assert disk.size_text(count) == text
