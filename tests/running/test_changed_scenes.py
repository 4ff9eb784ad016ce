"""Runs that go on with another scene, or with other files than they began with."""

import json
from pathlib import Path

import pytest
from fakes import make
from run_rigs import EVERY_FRAME, TEXT, Capture, notes, other, positions, simulate, stat_steps, tree

from viscoil.core.errors import DivergedError, ResumeError, RunError, Stopped
from viscoil.running.differences import misfit
from viscoil.running.resume import find_start
from viscoil.running.runner import run
from viscoil.runs.run import Run
from viscoil.scene import Scene


@pytest.fixture
def scene() -> Scene:
    return Scene.from_toml(TEXT)


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
