"""Surfaces from particles: closed, as large as they should be, and carrying what they should."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mesh_checks import faces_per_edge, is_closed, volumes
from picture_rigs import SPACING, Float, ball, lattice, snapshot, two_balls, written

from viscoil.cli import main
from viscoil.core import parallel
from viscoil.core.errors import MissingExtraError, RunError
from viscoil.geometry.meshes import TriangleMesh, read_mesh, write_mesh
from viscoil.geometry.meshes.builtin.solids import box
from viscoil.runs.folder import RunFolder
from viscoil.runs.lock import FolderLock
from viscoil.snapshots.snapshot import Snapshot
from viscoil.surface import SurfaceSettings, of_material, read_surface, surface_of
from viscoil.surface import folder as surface_files
from viscoil.surface.quality import enclosed_volume, open_edges
from viscoil.surface.reconstruction import particle_volume, split


def test_a_ball_is_closed_and_keeps_its_volume() -> None:
    """Of a radius of 8 spacings; where the surface lies is known to a tenth of a spacing.

    A shell of that thickness is 3 · 0.1 / 8 = 4 % of the volume.
    """
    frame = snapshot(ball(0.08))
    mesh = surface_of(frame)
    assert (faces_per_edge(mesh) == 2).all()
    assert is_closed(mesh)
    assert open_edges(mesh) == 0
    (volume,) = volumes(mesh)
    assert volume == pytest.approx(enclosed_volume(mesh))
    assert volume == pytest.approx(particle_volume(frame), rel=0.05)
    assert particle_volume(frame) == pytest.approx(4 / 3 * np.pi * 0.08**3, rel=0.03)
    distance = np.linalg.norm(mesh.vertices, axis=1)
    assert np.abs(distance - 0.08).max() < 0.6 * SPACING


def test_normals_point_outwards_and_are_unit() -> None:
    mesh = surface_of(snapshot(ball(0.08)))
    normal = mesh.attributes["normal"]
    outward = mesh.vertices / np.linalg.norm(mesh.vertices, axis=1, keepdims=True)
    assert np.linalg.norm(normal, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert np.einsum("ij,ij->i", normal, outward).min() > 0.8


@pytest.mark.parametrize("across", [3, 4, 6])
def test_a_thin_rope_stays_in_one_piece(across: int) -> None:
    """Of so many particles across, and square: it keeps its volume but for its rounded edges.

    Rounding by a spacing d takes (4 - π) d² of the section's n² d²; 6 % are as for a ball.
    """
    half = 0.5 * across * SPACING
    frame = snapshot(lattice((-half, -0.2, -half), (half, 0.2, half)))
    (volume,) = volumes(surface_of(frame))
    assert volume == pytest.approx(particle_volume(frame), rel=0.06 + 0.86 / across**2)


def test_far_from_the_origin_nothing_is_lost() -> None:
    """The library computes in single precision, which a kilometre away is coarser than a cube."""
    near = ball(0.05)
    here, far = surface_of(snapshot(near)), surface_of(_shifted(near, 1000.0))
    assert enclosed_volume(far) == pytest.approx(enclosed_volume(here), rel=0.01)


def _shifted(position: Float, offset: float) -> Snapshot:
    frame = snapshot(position)
    return replace(frame, channels={**frame.channels, "position": position + offset})


def test_a_linear_field_is_carried_over() -> None:
    """Vertices get a mean over particles within 2 spacings, all on one side: less than one off.

    A constant field comes over as it is, to single precision.
    """
    position = ball(0.08)
    gradient = np.array([[3.0, 0.0, 1.0], [0.0, -2.0, 0.0], [0.5, 0.0, 4.0]])
    velocity = (position @ gradient.T + 1.0).astype(np.float32)
    heat = np.full(len(position), 300.0, np.float32)
    frame = snapshot(position, velocity=velocity, temperature=heat)
    mesh = surface_of(frame, SurfaceSettings(attributes=("temperature",)))
    error = mesh.attributes["velocity"] - (mesh.vertices @ gradient.T + 1.0)
    most = np.linalg.norm(gradient, 2) * SPACING
    assert np.linalg.norm(error, axis=1).max() < most
    assert mesh.attributes["temperature"] == pytest.approx(300.0, rel=1e-5)


def test_channels_of_any_type_and_width() -> None:
    """Whole numbers of 64 bits, and six numbers a particle, which the library does not take."""
    position = ball(0.04)
    count = len(position)
    frame = snapshot(
        position,
        born=np.full(count, 7, np.uint64),
        conformation=np.tile(np.arange(6.0), (count, 1)),
        flag=np.full(count, 1, np.int8),
    )
    mesh = surface_of(frame, SurfaceSettings(attributes=("born", "conformation", "flag")))
    assert mesh.attributes["born"] == pytest.approx(7.0)
    assert mesh.attributes["conformation"].shape == (len(mesh.vertices), 6)
    assert mesh.attributes["conformation"][0] == pytest.approx(np.arange(6.0), abs=1e-5)
    assert mesh.attributes["flag"] == pytest.approx(1.0)


def test_materials_are_apart() -> None:
    """Two blocks that touch: no face joins them, and each is closed and as large as it should be."""
    left, right = lattice((-0.08, 0, 0), (0, 0.08, 0.08)), lattice((0, 0, 0), (0.08, 0.08, 0.08))
    material = np.repeat([2, 0], [len(left), len(right)]).astype(np.int32)
    mesh = surface_of(snapshot(np.concatenate([left, right]), material=material))
    number = mesh.attributes["material"]
    assert (number[mesh.faces] == number[mesh.faces[:, :1]]).all()
    assert set(number) == {0, 2}
    for index, side in ((2, -0.04), (0, 0.04)):
        part = of_material(mesh, index)
        assert (faces_per_edge(part) == 2).all()
        assert volumes(part) == pytest.approx([0.08**3], rel=0.08)
        assert part.vertices[:, 0].mean() == pytest.approx(side, abs=0.005)
    assert not len(of_material(mesh, 1).faces)


def test_particles_of_two_sizes() -> None:
    """Cut into eight, large particles weigh what they did: one closed body of the whole volume."""
    coarse = lattice((-0.12, 0, 0), (0, 0.12, 0.12), 2 * SPACING)
    fine = lattice((0, 0, 0), (0.12, 0.12, 0.12))
    size = np.repeat([2.0, 1.0], [len(coarse), len(fine)]).astype(np.float32)
    frame = snapshot(np.concatenate([coarse, fine]), size=size)
    assert particle_volume(frame) == pytest.approx(2 * 0.12**3)
    mesh = surface_of(frame)
    assert volumes(mesh) == pytest.approx([2 * 0.12**3], rel=0.06)
    place, row, edge = split(np.zeros((1, 3)), np.array([0.03]))
    assert (len(place), list(row), edge) == (1, [0], 0.03)
    place, row, edge = split(np.array([[1.0, 2.0, 3.0], [0, 0, 0]]), np.array([0.02, 0.01]))
    assert edge == 0.01 and np.bincount(row).tolist() == [8, 1]
    assert place[row == 0].mean(axis=0) == pytest.approx([1, 2, 3])
    assert np.ptp(place[row == 0], axis=0) == pytest.approx([0.01] * 3)


def test_open_edges_are_counted() -> None:
    """A box lacks three edges' second face without one triangle, and has three with it twice."""
    whole = box((1.0, 1.0, 1.0))
    assert open_edges(whole) == 0
    assert open_edges(TriangleMesh(whole.vertices, whole.faces[1:])) == 3
    twice = np.concatenate([whole.faces, whole.faces[:1]])
    assert open_edges(TriangleMesh(whole.vertices, twice)) == 3
    assert enclosed_volume(whole) == pytest.approx(1.0)


def test_strewn_particles_get_a_sentence() -> None:
    far = np.array([[0.0, 0.0, 0.0], [1e5, 0.0, 0.0]])
    with pytest.raises(RunError, match=r"strewn over 1e\+05 m.*kill_bounds"):
        surface_of(snapshot(far))
    nowhere = np.array([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0]])
    with pytest.raises(RunError, match=r"frame 0 has 1 particle that is nowhere \(NaN or inf"):
        surface_of(snapshot(nowhere))


def test_no_particles() -> None:
    mesh = surface_of(snapshot(np.zeros((0, 3))))
    assert len(mesh.faces) == 0 and enclosed_volume(mesh) == 0.0 and open_edges(mesh) == 0


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pysplashsurf", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'viscoil\[surface\]'"):
        surface_of(snapshot(ball(0.04)))


def test_the_command_writes_files_that_can_be_continued(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = snapshot(np.zeros((0, 3)), 1)
    run = written(tmp_path / "run", {0: two_balls(), 1: empty, 2: two_balls(2)})
    arguments = ["mesh", str(run.path), "--quiet"]
    assert main([*arguments, "--processes", "1", "--frames", "0,1"]) == 0
    said = capsys.readouterr().out
    assert "2 surfaces" in said and "all watertight" in said and "viscoil render" in said
    first = run.path / "surface/frame_000000.ply"
    mesh = read_mesh(first)
    assert set(mesh.attributes) == {"normal", "velocity", "material"}
    assert not len(read_surface(run.path / "surface/frame_000001.ply").faces)
    stamp = first.stat().st_mtime_ns
    assert main(arguments) == 0
    assert "3 surfaces (2 were there already)" in capsys.readouterr().out
    assert first.stat().st_mtime_ns == stamp
    record = json.loads((run.path / "surface/surface.json").read_text())
    figures = record["frames"]["2"]
    assert figures["open_edges"] == 0
    assert figures["volume"] == pytest.approx(figures["particle_volume"], rel=0.06)
    assert main([*arguments, "--smoothing", "5"]) == 1
    assert "made with other settings" in capsys.readouterr().err
    os.utime(run.frame_path(0), ns=(stamp + 10**9, stamp + 10**9))  # simulated again
    assert main([*arguments, "--frames", "0,2", "--processes", "1"]) == 0
    assert "(1 was there already)" in capsys.readouterr().out


def test_other_settings_replace_all_that_was_there(tmp_path: Path) -> None:
    """With the same settings --overwrite makes only the frames anew that are asked for."""
    run = written(tmp_path / "run", {n: two_balls(n) for n in range(3)})
    folder = run.path / "surface"
    mine = folder / "frame_000009.ply"
    command = ["mesh", str(run.path), "--quiet", "--processes", "1"]
    assert main(command) == 0
    mine.touch()
    second = (folder / "frame_000002.ply").stat()
    assert main([*command, "--overwrite", "--frames", "1"]) == 0
    assert surfaces_of(folder) == ([0, 1, 2], [0, 1, 2, 9])
    assert (folder / "frame_000002.ply").stat().st_mtime_ns == second.st_mtime_ns
    assert main([*command, "--overwrite", "--frames", "1", "--resolution", "2"]) == 0
    assert surfaces_of(folder) == ([1], [1, 9])


def test_a_record_of_another_version(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A surface whose figures are not understood is made again."""
    run = written(tmp_path / "run", {n: two_balls(n) for n in range(3)})
    command = ["mesh", str(run.path), "--quiet", "--processes", "1"]
    assert main(command) == 0
    path = run.path / "surface/surface.json"
    record = json.loads(path.read_text())
    record["frames"] |= {"0": {"area": 1.0}, "1": None, "last": {}}
    path.write_text(json.dumps(record))
    capsys.readouterr()
    assert main(command) == 0
    assert "3 surfaces (1 was there already)" in capsys.readouterr().out
    assert surfaces_of(run.path / "surface") == ([0, 1, 2], [0, 1, 2])


def surfaces_of(folder: Path) -> tuple[list[int], list[int]]:
    """Frames that the record names, and those that have a file."""
    record = json.loads((folder / "surface.json").read_text())
    files = sorted(int(p.stem.removeprefix("frame_")) for p in folder.glob("frame_*.ply"))
    return [int(number) for number in record["frames"]], files


def test_work_that_was_stopped_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C during the second of three surfaces: the first is recorded and not made again."""
    run = written(tmp_path / "run", {n: two_balls(n) for n in range(3)})
    made: list[int] = []

    def making(snapshot: Snapshot, settings: SurfaceSettings) -> TriangleMesh:
        made.append(snapshot.frame)
        if made == [0, 1]:
            (run.path / "surface/.frame_000001.part.ply").touch()  # as of a process that was ended
            raise KeyboardInterrupt
        return surface_of(snapshot, settings)

    monkeypatch.setattr(surface_files, "surface_of", making)
    command = ["mesh", str(run.path), "--quiet", "--processes", "1"]
    assert main(command) == 130
    assert "and the same command makes the rest" in capsys.readouterr().err
    assert surfaces_of(run.path / "surface") == ([0], [0])
    assert not list((run.path / "surface").glob(".*"))
    assert main(command) == 0
    assert made == [0, 1, 1, 2]
    assert "3 surfaces (1 was there already)" in capsys.readouterr().out


def test_one_command_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two would write the same unfinished files; afterwards no lock is left."""
    run = written(tmp_path / "run", {0: two_balls()})
    for command, folder in (
        (["mesh", "--processes", "1"], "surface"),
        (["render", "--size", "32x18", "--samples", "1"], "render"),
        (["export", "--to", "npz", "--processes", "1"], "export/npz"),
    ):
        whole = [command[0], str(run.path), *command[1:], "--quiet"]
        assert main(whole) == 0
        with FolderLock(run.path / folder) as lock:
            lock.take()
            assert main([*whole, "--overwrite"]) == 1
        assert f"another process writes to {run.path / folder}" in capsys.readouterr().err
        assert main([*whole, "--overwrite"]) == 0
        assert not list((run.path / folder).glob(".*"))


def test_as_many_processes_as_memory_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame of n particles takes 100 MiB and 3200 B a particle, of 90 % of what is free."""
    run = written(tmp_path / "run", {0: two_balls(), 1: snapshot(ball(0.02), 1)})
    paths = [run.frame_path(n) for n in (0, 1, 0, 1)]
    needed = 100 * 2**20 + len(two_balls().channels["position"]) * 3200
    monkeypatch.setattr(parallel, "cores", lambda: 3)
    for room, expected in ((0.1, 1), (2.5, 2), (3.5, 3), (9.0, 3)):
        monkeypatch.setattr(surface_files, "available", lambda r=room: int(r * needed / 0.9))
        assert surface_files._processes(paths, 3.0) == expected


def test_files_that_are_no_surface(tmp_path: Path) -> None:
    path = tmp_path / "a run" / "surface" / "frame_000000.ply"
    path.parent.mkdir(parents=True)
    write_mesh(path, surface_of(snapshot(ball(0.04))))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(RunError, match="is damaged: make it again") as caught:
        read_surface(path)
    assert f"with `viscoil mesh '{tmp_path}/a run' --overwrite`" in str(caught.value)
    write_mesh(path, box((1.0, 1.0, 1.0)))
    assert len(read_surface(path).faces) == 12
    with pytest.raises(RunError, match="is of another program"):
        read_surface(path, ("normal",))


def test_a_new_run_clears_what_was_made_of_the_old_one(tmp_path: Path) -> None:
    run = written(tmp_path / "run", {0: two_balls(), 1: two_balls(1)})
    assert main(["mesh", str(run.path), "--quiet", "--processes", "1"]) == 0
    surfaces, renders = run.path / "surface", run.path / "render"
    renders.mkdir()
    for name in ("frame_000000.png", "frame_000001.png", ".frame_000001.part.png"):
        (renders / name).touch()
    (renders / "render.json").write_text('{"settings": {}, "frames": {"0": {}, "1": {}}}')
    (surfaces / ".frame_000001.part.ply").touch()
    folder = RunFolder(run.path)
    folder.cut_back(step=0, frame=0)
    assert names(surfaces) == ["frame_000000.ply", "surface.json"]
    assert names(renders) == ["frame_000000.png", "render.json"]
    folder.clear()
    assert not surfaces.exists() and not renders.exists()


@pytest.mark.parametrize(
    "given", [["heat,age"], ["heat", "age"], ["heat, age", "heat"]], ids=["commas", "again", "both"]
)
def test_names_are_given_alike_to_both_commands(tmp_path: Path, given: list[str]) -> None:
    position = ball(0.02)
    more: dict[str, Any] = {
        name: np.ones(len(position), np.float32) for name in ("heat", "age", "salt")
    }
    run = written(tmp_path / "run", {0: snapshot(position, **more)})
    usual = [str(run.path), "--quiet", "--processes", "1"]
    assert main(["mesh", *usual, *(word for g in given for word in ("--attributes", g))]) == 0
    mesh = read_surface(run.path / "surface/frame_000000.ply")
    assert set(mesh.attributes) == {"normal", "velocity", "material", "heat", "age"}
    names = [word for g in given for word in ("--channels", g)]
    assert main(["export", *usual, "--to", "npz", *names]) == 0
    with np.load(run.path / "export/npz/frame_000000.npz") as file:
        assert {"heat", "age"} < set(file.files) and "salt" not in file.files


@pytest.mark.parametrize("record", ["", "[]", '{"frames": 3}', '{"frames": {"x": {}, "1": {}}}'])
def test_what_the_records_do_not_name_stays(tmp_path: Path, record: str) -> None:
    run = written(tmp_path / "run", {0: two_balls(), 1: two_balls(1), 2: two_balls(2)})
    for folder, suffix in (("surface", ".ply"), ("render", ".png")):
        (run.path / folder).mkdir()
        (run.path / folder / f"{folder}.json").write_text(record)
        for name in ("frame_000001", "frame_000002", "frame_2"):
            (run.path / folder / f"{name}{suffix}").write_text("made elsewhere")
    (run.path / "frames" / "frame_2.npz").write_text("mine")
    folder_of_run = RunFolder(run.path)
    folder_of_run.cut_back(step=0, frame=0)
    folder_of_run.clear()
    gone = {"frame_000001"} if '"1"' in record else set()
    kept = {"frame_000001", "frame_000002", "frame_2"} - gone
    assert names(run.path / "surface") == sorted(f"{name}.ply" for name in kept)
    assert names(run.path / "render") == sorted(f"{name}.png" for name in kept)
    assert names(run.path / "frames") == ["frame_2.npz"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_wrong_use_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = str(written(tmp_path / "run", {0: two_balls()}).path)
    for arguments, expected in (
        (["--attributes", "id"], "names have no mean"),
        (["--attributes", "velocty"], "did you mean 'velocity'"),
        (["--resolution", "0"], "Must be >= 0.5"),
        (["--frames", "7"], "there is no frame 7"),
    ):
        assert main(["mesh", run, *arguments]) != 0
        assert expected.lower() in capsys.readouterr().err.lower()
    bare = str(written(tmp_path / "bare", {}).path)
    assert main(["mesh", bare]) == 1
    assert "has no particle files" in capsys.readouterr().err
