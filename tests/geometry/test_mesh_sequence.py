"""Meshes that move: the order of their files, positions and velocities between frames."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mesh_files import CUBE, CUBE_FACES, TETRAHEDRON, TETRAHEDRON_FACES

from viscoil.core.errors import MeshError
from viscoil.geometry.meshes import TriangleMesh, read_mesh, read_sequence, write_mesh


def moved(x: float) -> np.ndarray:
    return TETRAHEDRON + np.array([x, 0, 0])


def write_frames(folder: Path, count: int, suffix: str = "obj") -> None:
    """Frame k is a tetrahedron moved by k² in x, numbered from 8 so that digits change."""
    for k in range(count):
        mesh = TriangleMesh(moved(k * k), TETRAHEDRON_FACES)
        write_mesh(folder / f"frame_{k + 8}.{suffix}", mesh)


@pytest.mark.parametrize("suffix", ["obj", "ply", "stl", "off", "glb"])
def test_frames_are_in_natural_order(tmp_path, suffix):
    write_frames(tmp_path, 5, suffix)
    for place in (tmp_path, tmp_path / f"frame_*.{suffix}", str(tmp_path / f"*.{suffix}")):
        sequence = read_sequence(place)
        assert [int(f.stem[6:]) for f in sequence.files] == [8, 9, 10, 11, 12]
        assert [sequence.frame(k)[:, 0].min() for k in range(len(sequence))] == [0, 1, 4, 9, 16]
        sequence.check()


def test_positions_between_frames_and_velocities(tmp_path):
    """x = k² at frame k: between 2 and 3 the slope is 5 a frame, at 10 frames a second 50 m/s."""
    write_frames(tmp_path, 4)
    sequence = read_sequence(tmp_path)
    for time_, x, speed in (
        (-1, 0, 0),
        (0, 0, 10),
        (0.05, 0.5, 10),
        (0.25, 6.5, 50),
        (0.3, 9, 0),
        (9, 9, 0),
    ):
        vertices, velocities = sequence.at(time_, fps=10)
        assert np.allclose(vertices, moved(x), atol=1e-12)
        assert np.allclose(velocities, [speed, 0, 0], atol=1e-12)


def test_a_loop_goes_back_to_the_first_frame(tmp_path):
    """The fourth of four frames, x = 9, is followed by the first, x = 0; the period is 0.4 s."""
    write_frames(tmp_path, 4)
    sequence = read_sequence(tmp_path)
    for turns in (-2, 0, 3):
        vertices, velocities = sequence.at(0.35 + 0.4 * turns, fps=10, loop=True)
        assert np.allclose(vertices, moved(4.5), atol=1e-12)
        assert np.allclose(velocities, [-90, 0, 0], atol=1e-12)
    assert np.allclose(sequence.at(-1e-30, 10, loop=True)[0], TETRAHEDRON, atol=1e-12)


@given(st.floats(-1, 2), st.sampled_from([True, False]))
def test_velocity_is_the_derivative(tmp_path_factory, time_, loop):
    """Within a piece positions are linear in time, so a forward difference is exact but for
    rounding, ε · 9 m / 1e-6 s; at the seam between pieces both slopes are possible."""
    folder = tmp_path_factory.getbasetemp() / "derivative"
    if not folder.exists():
        folder.mkdir()
        write_frames(folder, 4)
    sequence = read_sequence(folder)
    step = 1e-6
    here, velocity = sequence.at(time_, 10, loop)
    there, after = sequence.at(time_ + step, 10, loop)
    if np.array_equal(velocity, after):
        assert np.allclose((there - here) / step, velocity, atol=1e-7)


def test_one_frame_rests(tmp_path):
    write_frames(tmp_path, 1)
    for loop in (True, False):
        vertices, velocities = read_sequence(tmp_path).at(7.3, 24, loop)
        assert np.array_equal(vertices, TETRAHEDRON)
        assert not velocities.any()


def test_few_frames_are_kept_and_read_once(tmp_path, monkeypatch):
    write_frames(tmp_path, 12)
    opened: list[str] = []

    def counted(path: Path) -> TriangleMesh:
        opened.append(path.name)
        return read_mesh(path)

    monkeypatch.setattr("viscoil.geometry.meshes.sequence.read_mesh", counted)
    sequence = read_sequence(tmp_path)
    for k in range(120):
        sequence.at(k / 100, fps=10)
    assert len(opened) == 12
    assert len(sequence._kept) <= 4


def test_frames_that_do_not_belong_together(tmp_path):
    write_frames(tmp_path, 3)
    write_mesh(tmp_path / "frame_9.obj", TriangleMesh(CUBE, CUBE_FACES))
    sequence = read_sequence(tmp_path)
    with pytest.raises(MeshError, match=r"frame_9\.obj: has 8 vertices and 12 faces that are not"):
        sequence.check()
    turned = TriangleMesh(TETRAHEDRON, TETRAHEDRON_FACES[:, ::-1])
    write_mesh(tmp_path / "frame_9.obj", turned)
    with pytest.raises(MeshError, match=r"frame_9\.obj: .*same faces"):
        read_sequence(tmp_path).at(0.05, 10)
    write_mesh(tmp_path / "extra.ply", TriangleMesh(CUBE, CUBE_FACES))
    with pytest.raises(MeshError, match=r"has \.obj and \.ply files: choose with a pattern"):
        read_sequence(tmp_path)
    with pytest.raises(MeshError, match="there is no mesh file"):
        read_sequence(tmp_path / "*.stl")
    with pytest.raises(MeshError, match="has no frame 3"):
        sequence.frame(3)
    with pytest.raises(MeshError, match="has no time nan s"):
        sequence.at(math.nan, 24)
    with pytest.raises(MeshError, match="has no time 1e"):
        sequence.at(1e300, 1e300, loop=True)
    with pytest.raises(MeshError, match="at 0 frames per second"):
        sequence.at(1.0, 0)


def test_a_folder_that_cannot_be_listed(tmp_path, monkeypatch):
    def refuse(self: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(MeshError, match=r"cannot be read \(Permission denied\)"):
        read_sequence(tmp_path)
