"""Exporting runs, afterwards and while they run: what is written where, and what is refused."""

import errno
import json
import os
import signal
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from disks import fill_disk
from exchange_rigs import LOOKS, SCENE, channels, frame, write_run
from fakes import FakeSimulation, make

from viscoil.cli import main
from viscoil.core.errors import MissingExtraError, RunError, Stopped
from viscoil.exchange import FORMATS, Format, export, find_format, registry
from viscoil.exchange.live import ExportOutput
from viscoil.running.runner import run as run_scene
from viscoil.runs.export_folder import ExportFolder
from viscoil.runs.folder import RunFolder
from viscoil.runs.run import Run
from viscoil.scene import Scene
from viscoil.scene.settings import OutputSpec
from viscoil.snapshots.snapshot import Snapshot

COMMAND = pytest.CaptureFixture[str]


STAGE = ("shot.usda", "shot.frames.usda")
TIES = {
    "vtp": ("particles.pvd",),
    "usd": STAGE,
    "blender": (*STAGE, "shot_blender.py"),
    "alembic": ("shot.abc",),
}


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


# What is written


@pytest.mark.parametrize("name", FORMATS)
def test_the_command(tmp_path: Path, capsys: COMMAND, name: str) -> None:
    write_run(tmp_path)
    code = main(["export", str(tmp_path), "--to", name, "--processes", "1", "--quiet"])
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    folder, suffix = tmp_path / "export" / name, find_format(name).suffix
    files = [f"frame_{n:06}{suffix}" for n in range(4)]
    assert sorted(tree(folder)) == sorted(["export.json", *files, *TIES.get(name, ())])
    assert said.out.count("\n") == 1
    assert said.out.startswith("4 frames with position, velocity, ")
    assert str(folder) in said.out and f"open it with {find_format(name).opened_by}" in said.out
    assert ("without id, material, for which the format has no place" in said.out) == (
        name == "vdb"
    )


def test_what_holds_for_all_frames_is_beside_them(tmp_path: Path) -> None:
    write_run(tmp_path)
    export(tmp_path, "bgeo", processes=1, quiet=True)
    record = json.loads((tmp_path / "export" / "bgeo" / "export.json").read_text(encoding="utf-8"))
    assert record == {
        "format": "bgeo",
        "frames": ["frame_*.bgeo"],
        "ties": [],
        "scene": "shot",
        "fps": 10,
        "spacing": 0.25,
        "materials": ["honey", "water"],
    }


def test_processes_do_not_matter(tmp_path: Path, capsys: COMMAND) -> None:
    write_run(tmp_path / "run")
    for count in (1, 2):
        export(tmp_path / "run", "vtp", out=tmp_path / str(count), processes=count)
    assert tree(tmp_path / "1") == tree(tmp_path / "2")
    lines = capsys.readouterr().out.splitlines()  # more than two where processes are slow to start
    assert lines.count("export vtp 4/4  left 0:00") == 2


def test_chosen_frames_and_channels(tmp_path: Path) -> None:
    """In the order in which they were named; sizes come along, for positions alone would mislead."""
    run = write_run(tmp_path)
    names = ["temperature", "position", "id", "temperature"]
    done = export(tmp_path, "npz", frames="1:3:2", channels=names, processes=1, quiet=True)
    assert (done.frames, done.channels) == ((1, 3), ("temperature", "id", "size"))
    assert done.opens == tmp_path / "export" / "npz"
    with np.load(done.opens / "frame_000003.npz") as found, np.load(run.frame(3)) as source:
        own = {"radius", "time", "frame", "spacing", "material_names"}
        assert set(found.files) == {"position", "temperature", "id", "size"} | own
        for name in ("position", "temperature", "id", "size", "time", "frame", "spacing"):
            np.testing.assert_array_equal(found[name], source[name])
        np.testing.assert_array_equal(found["radius"], np.float32(0.125) * source["size"])
    assert sorted(tree(done.opens)) == ["export.json", "frame_000001.npz", "frame_000003.npz"]


def test_missing_frames_are_told(tmp_path: Path, capsys: COMMAND) -> None:
    write_run(tmp_path, (0, 1, 4, 5))
    arguments = ["export", str(tmp_path), "--to", "ply", "--processes", "1", "--quiet"]
    assert main(arguments) == 0
    assert "4 frames with" in (said := capsys.readouterr().out)
    assert "without frames 2 to 3, missing in the run (resume it to make them)" in said
    assert main([*arguments, "--overwrite", "--frames", "::2"]) == 0
    assert "2 frames with" in (said := capsys.readouterr().out)
    assert "without frame 2, missing" in said
    assert main([*arguments, "--overwrite", "--frames", "4,5"]) == 0
    assert ", missing in the run" not in capsys.readouterr().out


def test_every_format_of_the_scene_is_there() -> None:
    literal = next(t for t in get_args(OutputSpec.model_fields["format"].annotation) if get_args(t))
    assert set(get_args(literal)) <= set(FORMATS)
    for name in FORMATS:
        form = find_format(name)
        assert (form.name, form.suffix[0]) == (name, ".")
        assert Format in type(form).__mro__


# What is refused


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--to", "vtpp"], "'vtpp' is no known format: did you mean \"vtp\"?"),
        (["--to", "xml"], "'xml' is no known format: use one of alembic, bgeo, bhclassic, blender"),
        (
            ["--to", "ply", "--channels", "velosity"],
            "no channel 'velosity': did you mean 'velocity'?",
        ),
        (["--to", "ply", "--frames", "9"], "there is no frame 9: there are 0 to 3"),
        (
            ["--to", "vdb", "--channels", "id"],
            '"vdb" has no place for the channel id: leave it out',
        ),
    ],
)
def test_wrong_wishes(tmp_path: Path, capsys: COMMAND, options: list[str], sentence: str) -> None:
    write_run(tmp_path)
    before = tree(tmp_path)
    assert main(["export", str(tmp_path), *options]) == 1
    said = capsys.readouterr().err
    assert sentence in said and said.count("\n") == 1
    assert tree(tmp_path) == before


def test_frames_without_positions(tmp_path: Path) -> None:
    write_run(tmp_path, names=["velocity", "id"])
    with pytest.raises(RunError, match="have no channel 'position'"):
        export(tmp_path, "ply", quiet=True)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_truncated_frame(tmp_path: Path, processes: int) -> None:
    run = write_run(tmp_path)
    whole = run.frame(2).read_bytes()
    run.frame(2).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RunError, match=r"frame_000002\.npz is truncated or damaged"):
        export(tmp_path, "ply", processes=processes, quiet=True)
    assert not (tmp_path / "export" / "ply" / "frame_000002.ply").exists()


@pytest.mark.parametrize(
    ("lost", "words"),
    [({3: np.nan}, "1 particle that is"), ({0: np.inf, 7: -np.inf}, "2 particles that are")],
)
@pytest.mark.parametrize("name", FORMATS)
def test_particles_that_are_nowhere(
    tmp_path: Path, capsys: COMMAND, name: str, lost: dict[int, float], words: str
) -> None:
    """The sentence names the frame's file, how many they are, and what to do."""
    run = write_run(tmp_path)
    arrays = dict(np.load(run.frame(2)))
    for row, number in lost.items():
        arrays["position"][row, 1] = number
    np.savez(run.frame(2), **arrays)
    assert main(["export", str(tmp_path), "--to", name, "--processes", "1", "--quiet"]) == 1
    assert capsys.readouterr().err == (
        f"viscoil: {run.frame(2)} has {words} nowhere (NaN or infinite): choose other frames with "
        "--frames, or run the scene again with a smaller simulation.max_time_step\n"
    )
    suffix = find_format(name).suffix
    files = {path.name for path in (tmp_path / "export" / name).iterdir()}
    assert files == {"export.json", f"frame_000000{suffix}", f"frame_000001{suffix}"}


def test_a_run_does_not_export_what_is_nowhere(tmp_path: Path) -> None:
    output = ExportOutput(tmp_path, find_format("ply"), Scene.from_toml(SCENE), ("position",))
    good = channels(4)
    output.frame(frame(good, 1))
    good["position"][2] = np.nan
    with pytest.raises(
        RunError, match=r"frame 2 has 1 particle that is nowhere \(NaN or infinite\)"
    ):
        output.frame(frame(good, 2))
    assert sorted(tree(tmp_path)) == ["export.json", "frame_000001.ply"]


@pytest.mark.parametrize("lacking", ["id", "position"])
def test_a_frame_that_lacks_a_channel(tmp_path: Path, lacking: str) -> None:
    run = write_run(tmp_path)
    arrays = dict(np.load(run.frame(2)))
    del arrays[lacking]
    np.savez(run.frame(2), **arrays)
    with pytest.raises(RunError, match=f"frame 2 has no channel '{lacking}'"):
        export(tmp_path, "ply", processes=1, quiet=True)


def test_an_earlier_export_is_kept_unless_told(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    folder = tmp_path / "out"
    export(tmp_path / "run", "vtp", out=folder, processes=1, quiet=True)
    before = tree(folder)
    with pytest.raises(RunError, match="holds an export already: replace it with --overwrite"):
        export(tmp_path / "run", "ply", out=folder, processes=1, quiet=True)
    assert tree(folder) == before
    (folder / "notes.txt").write_text("mine")
    (folder / "frame_notes.vtp").write_text("mine")
    export(tmp_path / "run", "ply", frames="1", out=folder, processes=1, quiet=True, overwrite=True)
    kept = ["export.json", "frame_000001.ply", "frame_notes.vtp", "notes.txt"]
    assert sorted(tree(folder)) == kept


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("where", ["run", "run/frames", "photos"])
def test_folders_of_something_else_are_left_alone(
    tmp_path: Path, where: str, overwrite: bool
) -> None:
    """Above all the frames of the run, which are called as those of an export to npz would be."""
    write_run(tmp_path / "run")
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "frame_000001.npz").write_text("mine")
    before = tree(tmp_path)
    with pytest.raises(RunError, match="has files that are not of an export: give an empty or new"):
        export(tmp_path / "run", "npz", out=tmp_path / where, overwrite=overwrite, quiet=True)
    assert tree(tmp_path) == before


def test_a_file_in_the_way(tmp_path: Path) -> None:
    write_run(tmp_path / "run")
    (tmp_path / "out").write_text("mine")
    with pytest.raises(RunError, match="out is a file: give another folder with --out"):
        export(tmp_path / "run", "npz", out=tmp_path / "out", quiet=True)


@pytest.mark.parametrize("name", FORMATS)
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    path = tmp_path / f"frame_000007{find_format(name).suffix}"
    find_format(name).write(path, frame(channels(3)), ["velocity"])
    before = tree(tmp_path)
    fill_disk(monkeypatch)
    with pytest.raises(RunError, match=r"disk is full, so .*frame_000007.* --overwrite"):
        find_format(name).write(path, frame(channels(5)), ["velocity"])
    assert tree(tmp_path) == before


def test_a_disk_that_fills_up_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_run(tmp_path)
    sync, calls = os.fsync, []

    def full(handle: int) -> None:
        calls.append(handle)
        if len(calls) > 6:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(handle)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match=r"disk is full, so .*frame_000002\.ply"):
        export(tmp_path, "ply", processes=1, quiet=True)
    monkeypatch.undo()
    files = ["export.json", "frame_000000.ply", "frame_000001.ply"]
    assert sorted(tree(tmp_path / "export" / "ply")) == files
    export(tmp_path, "ply", processes=1, quiet=True, overwrite=True)
    assert len(tree(tmp_path / "export" / "ply")) == 5


class NeedyFormat(Format):
    """A format whose library is not here."""

    name, suffix, opened_by = "needy", ".needy", "nobody"

    def prepare(self) -> None:
        raise MissingExtraError("needy files need needy, which is not here: pip install needy")

    def write(self, path: Path, snapshot: Snapshot, channels: object) -> None:
        raise AssertionError("not without the library")


@pytest.fixture
def needy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.FORMATS, "ply", f"{__name__}:NeedyFormat")


def test_a_missing_library_costs_nothing(tmp_path: Path, needy: None) -> None:
    write_run(tmp_path)
    before = tree(tmp_path)
    with pytest.raises(MissingExtraError, match="pip install needy"):
        export(tmp_path, "ply", overwrite=True, quiet=True)
    assert tree(tmp_path) == before


# While the simulation runs

TEXT = """\
[simulation]
name = "drop"
spacing = 0.1
frames = 4

[materials."grüne Soße"]
density = 1
viscosity = 1

[[fluids]]
material = "grüne Soße"
shape = "sphere"
center = [0, 0, 0]
radius = 1

[[outputs]]
type = "frames"
"""


class FullSimulation(FakeSimulation):
    """Has the channels that outputs want by default, and sizes."""

    def snapshot(self) -> Snapshot:
        bare = super().snapshot()
        values = {**channels(5, self.frame), "position": bare.channels["position"]}
        return Snapshot(bare.frame, bare.time, values, LOOKS[:1], [], bare.spacing)


def full(**plan: Any) -> Any:
    def build(scene: Scene, *, checkpoint: Path | None, **more: object) -> object:
        return FullSimulation(scene, checkpoint=checkpoint, **plan)

    return build


def exporting(*formats: str) -> Scene:
    tables = (f'\n[[outputs]]\ntype = "export"\nformat = "{name}"\n' for name in formats)
    return Scene.from_toml(TEXT.replace("grüne Soße", "honey") + "".join(tables))


LIVE = ("npz", "ply", "bgeo", "bhclassic", "vtp", "vdb")


def test_live_equals_afterwards(tmp_path: Path) -> None:
    """Byte for byte, in every format."""
    run_scene(exporting(*LIVE), tmp_path / "run", quiet=True, make=full())
    for name in LIVE:
        live = tree(tmp_path / "run" / "export" / name)
        assert len([file for file in live if file.startswith("frame_")]) == 5
        out = tmp_path / name
        export(tmp_path / "run", name, out=out, processes=1, quiet=True)
        assert tree(out) == live


def test_a_resumed_run_exports_the_same(tmp_path: Path) -> None:
    """Stopped in the third frame, then resumed from a checkpoint that lies before the last frames."""
    scene = exporting("vtp", "ply")
    run_scene(scene, tmp_path / "whole", quiet=True, make=full())
    parts = tmp_path / "parts"
    plan = {"interrupt_at": 7, "signal": signal.SIGINT}
    with pytest.raises(Stopped):
        run_scene(scene, parts, quiet=True, make=full(**plan))
    assert len(tree(parts / "export" / "vtp")) == 5
    later = parts / "export" / "vtp" / "frame_000003.vtp"
    later.write_text("of a run that went on and was lost")
    run_scene(scene, parts, quiet=True, resume=True, make=full())
    assert tree(parts / "export") == tree(tmp_path / "whole" / "export")


def test_cutting_back_removes_later_frames_and_their_series(tmp_path: Path) -> None:
    run_scene(exporting("vtp"), tmp_path, quiet=True, make=full())
    folder = RunFolder(tmp_path)
    folder.cut_back(step=100, frame=4)
    assert (folder.exports / "vtp" / "particles.pvd").exists()
    folder.cut_back(step=6, frame=2)
    files = ["export.json", *(f"frame_{n:06}.vtp" for n in range(3))]
    assert sorted(tree(folder.exports / "vtp")) == files


def test_overwriting_a_run_clears_its_exports(tmp_path: Path) -> None:
    run_scene(exporting("vtp", "ply"), tmp_path, quiet=True, make=full())
    (tmp_path / "export" / "ply" / "notes.txt").write_text("mine")
    run_scene(exporting("ply").with_frames(1), tmp_path, overwrite=True, quiet=True, make=full())
    assert sorted(tree(tmp_path / "export")) == [
        "ply/export.json",
        "ply/frame_000000.ply",
        "ply/frame_000001.ply",
        "ply/notes.txt",
    ]


def test_only_files_of_the_export_go(tmp_path: Path) -> None:
    """A frame of another name or ending is somebody else's, in any folder of an export."""
    write_run(tmp_path, (0, 1, 2))
    export(tmp_path, "ply", processes=1, quiet=True)
    folder = tmp_path / "export" / "ply"
    foreign = ["frame_000002.blend", "frame_2.ply", "frame_0000002.ply", "frame_000002.ply.bak"]
    for name in foreign:
        (folder / name).write_text("mine")
    ExportFolder(folder).cut_back(0)
    assert sorted(tree(folder)) == sorted(["export.json", "frame_000000.ply", *foreign])
    ExportFolder(folder).clear()
    assert sorted(tree(folder)) == sorted(foreign)


def test_surfaces_in_a_stage_go_with_their_frames(tmp_path: Path) -> None:
    from usd_rigs import write_surfaces

    write_run(tmp_path, (0, 1, 2))
    write_surfaces(tmp_path / "surface", (0, 1, 2))
    record = tmp_path / "surface" / "surface.json"
    record.write_text(json.dumps({"frames": {str(n): {} for n in (0, 1)}}))
    done = export(tmp_path, "usd", processes=1, quiet=True)
    assert done.note.startswith("without surfaces, as 1 of 3 frames lack a current one")
    record.write_text(json.dumps({"frames": {str(n): {} for n in (0, 1, 2)}}))
    done = export(tmp_path, "usd", processes=1, quiet=True, overwrite=True)
    assert done.note == ""
    folder = tmp_path / "export" / "usd"
    stages = {"shot.usda", "shot.frames.usda", "shot.surface.usda"}
    assert stages < tree(folder).keys()
    ExportFolder(folder).cut_back(1)
    kinds = ("frame", "surface")
    kept = {f"{kind}_00000{n}.usdc" for kind in kinds for n in (0, 1)}
    assert tree(folder).keys() == {"export.json", *kept}
    ExportFolder(folder).clear()
    assert not folder.exists()


@pytest.mark.parametrize("text", ["", "[]", '{"frames": 3, "ties": null}', '{"ties": ["../a"]}'])
def test_a_damaged_record_of_an_export_removes_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "export").mkdir()
    for name in ("a", "export/frame_000002.ply"):
        (tmp_path / name).write_text("mine")
    (tmp_path / "export" / "export.json").write_text(text)
    before = tree(tmp_path)
    ExportFolder(tmp_path / "export").cut_back(0)
    assert tree(tmp_path) == before


def test_a_live_export_needs_its_channels(tmp_path: Path) -> None:
    text = TEXT + '[[outputs]]\ntype = "export"\nformat = "ply"\nchannels = ["stress"]\n'
    with pytest.raises(RunError, match="frame 0 has no channel 'stress'"):
        run_scene(Scene.from_toml(text), tmp_path / "a", quiet=True, make=full())
    text = TEXT + '[[outputs]]\ntype = "export"\nformat = "vdb"\nchannels = ["id"]\n'
    with pytest.raises(RunError, match='"vdb" has no place for the channel id'):
        run_scene(Scene.from_toml(text), tmp_path / "b", quiet=True, make=full())


def test_a_missing_library_stops_a_run_before_it_starts(tmp_path: Path, needy: None) -> None:
    run_scene(exporting(), tmp_path, quiet=True, make=full())
    before = tree(tmp_path)
    with pytest.raises(MissingExtraError, match="pip install needy"):
        run_scene(exporting("ply"), tmp_path, overwrite=True, quiet=True, make=make())
    assert tree(tmp_path) == before


def test_absent_frames(tmp_path: Path) -> None:
    write_run(tmp_path, (1, 2, 5, 8))
    run = Run(tmp_path)
    assert run.absent() == run.absent(":") == run.missing == (3, 4, 6, 7)
    assert run.absent("2:6") == (3, 4, 6)
    assert run.absent("::2") == (3, 7)
    assert run.absent("1,-1") == ()
