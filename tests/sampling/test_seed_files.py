"""Fluids that start from particle files: where they are put, how fast, and whether they fit."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scene_rigs import floating_water
from scipy.spatial.transform import Rotation

from viscoil import Scene, Simulation
from viscoil.colliders import ColliderSet
from viscoil.core.errors import SceneError, ViscoilError
from viscoil.sampling import amounts
from viscoil.sampling.seed_files import mean_spacing
from viscoil.sampling.seeding import seed

Floats = npt.NDArray[np.float64]


def cube(count: int, spacing: float) -> Floats:
    axis = (np.arange(count) + 0.5) * spacing
    return np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1).reshape(-1, 3)


def text(file: Path | str, more: str = "", rest: str = "", spacing: float = 0.1) -> str:
    return floating_water(f'shape = "particles"\nfile = "{file}"\n{more}', rest, spacing)


def scene(file: Path | str, more: str = "", rest: str = "", spacing: float = 0.1) -> Scene:
    return Scene.from_toml(text(file, more, rest, spacing))


def start(scene: Scene) -> Any:
    return seed(scene, ColliderSet.of(scene))


@pytest.fixture(scope="module")
def lattice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """512 particles, 0.1 apart, with velocities."""
    path = tmp_path_factory.mktemp("seeds") / "cube.npz"
    position = cube(8, 0.1)
    np.savez(path, position=position, velocity=np.cross([0.0, 0.0, 2.0], position))
    return path


numbers = st.floats(-3.0, 3.0).map(lambda x: round(x, 3))
vectors = st.tuples(numbers, numbers, numbers)
axes = vectors.filter(lambda v: max(map(abs, v)) > 0.1)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(center=vectors, axis=axes, angle=numbers, scale=st.floats(0.95, 1.05), moving=st.booleans())
def test_bodies_are_scaled_turned_and_shifted(
    lattice: Path, center: Any, axis: Any, angle: float, scale: float, moving: bool
) -> None:
    """x = c + s R x₀ and v = s R v₀, by SciPy's rotations; rounding of single precision near 10."""
    more = (
        f"center = {list(center)}\nscale = {scale}\nvelocities = {str(moving).lower()}\n"
        f"rotation = {{ axis = {list(axis)}, angle = {angle} }}"
    )
    found = start(scene(lattice, more))
    turn = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis))
    source = cube(8, 0.1)
    expected = np.array(center) + turn.apply(scale * source)
    np.testing.assert_allclose(found.position, expected, atol=2e-6)
    velocity = turn.apply(scale * np.cross([0.0, 0.0, 2.0], source)) if moving else 0.0 * source
    np.testing.assert_allclose(found.velocity, velocity, atol=2e-6)


def test_velocities_are_added_to_that_of_the_body(lattice: Path) -> None:
    found = start(scene(lattice, "velocity = [1.0, 2.0, 3.0]"))
    expected = np.cross([0.0, 0.0, 2.0], cube(8, 0.1)) + np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(found.velocity, expected, atol=1e-6)


def test_a_lattice_from_a_file_runs_like_a_box(tmp_path: Path) -> None:
    """The same particles, so the same bits."""
    box = Scene.from_toml(
        """
[simulation]
spacing = 0.1
frames = 1
[[fluids]]
material = "water"
shape = "box"
center = [0.4, 0.4, 0.4]
size = [0.8, 0.8, 0.8]
"""
    )
    whole = Simulation(box)
    np.savez(tmp_path / "a.npz", position=whole.particles["position"])
    head = box.to_toml().split("[[fluids]]")[0]
    fluid = f'[[fluids]]\nmaterial = "water"\nshape = "particles"\nfile = "{tmp_path}/a.npz"\n'
    again = Simulation(Scene.from_toml(head + fluid))
    for _ in range(3):
        whole.step()
        again.step()
    np.testing.assert_array_equal(whole.particles["position"], again.particles["position"])


def test_a_frame_of_a_run_goes_on(tmp_path: Path, lattice: Path) -> None:
    """A file that FramesOutput wrote is a particle file; its velocities are those of the run."""
    from viscoil.outputs.frames import FramesOutput

    run = Simulation(scene(lattice))
    run.step()
    FramesOutput(tmp_path).frame(run.snapshot())
    (file,) = tmp_path.glob("*.npz")
    found = start(scene(file))
    np.testing.assert_array_equal(found.position, run.particles["position"])
    np.testing.assert_array_equal(found.velocity, run.particles["velocity"])


def test_files_are_found_from_the_scene_file(tmp_path: Path, lattice: Path) -> None:
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "cube.npz").write_bytes(lattice.read_bytes())
    (tmp_path / "a.toml").write_text(text("seeds/cube.npz"))
    loaded = Scene.load(tmp_path / "a.toml")
    assert len(start(loaded).position) == 512
    assert amounts.expected_particles(loaded) == 512


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="there is no particle file"):
        start(scene(tmp_path / "none.bgeo"))


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, position=cube(8, 0.1))
    assert len(start(scene(path)).position) == 512
    np.savez(path, position=cube(9, 0.1))
    assert len(start(scene(path)).position) == 729


@pytest.mark.parametrize("spacing", [0.003, 0.1, 40.0])
@pytest.mark.parametrize("count", [6, 10, 31])
def test_the_spacing_of_a_lattice(count: int, spacing: float) -> None:
    """Where 8 or more particles of a thousand lie inside; the density of a lattice is exact to 10⁻⁴."""
    assert mean_spacing(cube(count, spacing)) == pytest.approx(spacing, rel=2e-3)


def test_the_spacing_of_a_scattered_ball() -> None:
    """Places that miss a lattice by 0.1 spacings: the density at a particle varies by some percent,
    and the densest tenth is denser by about 10 %, which is 3 to 4 % in length."""
    random = np.random.default_rng(3)
    points = cube(24, 1.0)
    ball = points[np.linalg.norm(points - 12.0, axis=1) < 10.0]
    scattered = ball + random.normal(0.0, 0.1, ball.shape)
    assert mean_spacing(scattered) == pytest.approx(1.0, rel=0.05)


def test_the_spacing_of_a_layer() -> None:
    """Σ W d³ of a square lattice is 1/π (1 + 4/4 + 8 (1 − √½)³) = 0.70, so that d is 1.13 too wide;
    it feels farther particles then, which widens it to 1.19."""
    layer = cube(20, 1.0)[:400]
    assert 1.12 < mean_spacing(layer) < 1.2


@pytest.mark.parametrize("far", [20.0, 1e5])
def test_strays_and_bodies_far_apart_take_no_more_memory(far: float) -> None:
    """One particle astray, or a second body: the spacing is the same, in a few megabytes.

    Pairs of 2000 samples with all of 4096 particles would take 8 bytes times 7 each, 400 MB.
    """
    block = cube(16, 0.01)
    stray = np.concatenate([block, [[far, far, far]]])
    bodies = np.concatenate([block, block + far])
    for position in (stray, bodies):
        tracemalloc.start()
        found = mean_spacing(position)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert found == pytest.approx(0.01, rel=5e-3)
        assert peak < 30e6


def test_particles_in_one_place_are_too_close() -> None:
    """All but one: no support is small enough, and the work ends all the same."""
    heap = np.zeros((20_000, 3))
    heap[0] = 1.0
    assert mean_spacing(heap) < 1e-6


def test_one_particle_has_no_spacing() -> None:
    assert mean_spacing(np.zeros((1, 3))) == np.inf


@pytest.mark.parametrize(
    ("spacing", "words"),
    [
        (0.1, None),
        (0.115, "the fluid will swell"),
        (0.085, "the fluid will shrink"),
        (0.04, "they start as separate drops"),
    ],
)
def test_notes_on_spacing(lattice: Path, spacing: float, words: str | None) -> None:
    notes = start(scene(lattice, spacing=spacing)).notes
    assert (words is None) == (notes == [])
    if words is not None:
        assert words in notes[0] and "cube.npz" in notes[0]


def test_particles_far_too_close_are_refused_with_what_would_fit(lattice: Path) -> None:
    with pytest.raises(SceneError, match=r"would burst apart: set simulation\.spacing.*about 0\.1"):
        start(scene(lattice, spacing=0.2))
    start(scene(lattice, "scale = 2.0", spacing=0.2))
    start(scene(lattice, "spacing = 0.1", spacing=0.2))


def test_fluids_that_overlap_a_file_are_refused(lattice: Path) -> None:
    box = '[[fluids]]\nmaterial = "water"\nshape = "box"\nsize = [0.5, 0.5, 0.5]\n'
    with pytest.raises(SceneError, match="overlap"):
        start(scene(lattice, rest=box + "center = [0.9, 0.4, 0.4]"))
    assert len(start(scene(lattice, rest=box + "center = [1.2, 0.4, 0.4]")).position) == 512 + 125
    other = f'[[fluids]]\nmaterial = "water"\nshape = "particles"\nfile = "{lattice}"\n'
    with pytest.raises(SceneError, match="overlap"):
        start(scene(lattice, rest=other + "center = [0.52, 0.03, 0.0]"))


def test_colliders_cut_a_file(lattice: Path) -> None:
    """A plane through the middle leaves the half before it."""
    plane = '[[colliders]]\nshape = "plane"\npoint = [0.0, 0.4, 0.0]'
    found = start(scene(lattice, rest=plane))
    assert len(found.position) == 256
    assert "256 of 512 particles lie inside colliders" in found.notes[0]


def test_a_damaged_file_is_told_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from viscoil.cli import main

    (tmp_path / "a.bgeo").write_bytes(b"BgeoV\0\0")
    (tmp_path / "a.toml").write_text(text("a.bgeo"))
    assert main(["check", str(tmp_path / "a.toml")]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_the_preview_looks_at_the_file(lattice: Path) -> None:
    """The box around the particles, half a spacing less than that of the body on each side."""
    from viscoil.preview.camera import scene_bounds

    more = (
        "center = [5.0, 0.0, 0.0]\nscale = 1.1\nrotation = { axis = [0, 0, 1], angle = 1.5707963 }"
    )
    low, high = scene_bounds(scene(lattice, more))
    assert (low[0], high[0]) == pytest.approx((5.0 - 1.1 * 0.75, 5.0 - 1.1 * 0.05), abs=1e-6)


def test_scaling_a_scene_says_that_the_file_does_not_fit(lattice: Path) -> None:
    data = scene(lattice).to_dict()
    data["simulation"]["scale"] = 0.1
    with pytest.raises(ViscoilError, match="would burst apart"):
        start(Scene.model_validate(data))
