"""The fluid as volumes: what must be conserved, where the surface is, and what OpenVDB reads."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from exchange_rigs import SPACING, channels, frame
from hypothesis import given, settings
from hypothesis import strategies as st
from openvdb_rigs import identity, peer, peer_grids
from vdb_rigs import assert_same

from viscoil.core.errors import RunError
from viscoil.exchange import find_format
from viscoil.exchange.splat import LEAF, Cloud, _bspline, layers
from viscoil.exchange.volumes import STEEPEST
from viscoil.geometry.vdb import VdbGrid, read_vdb
from viscoil.snapshots.snapshot import Array, Snapshot

VOXEL = SPACING / 2


def lattice(shape: tuple[int, int, int]) -> Array:
    """Particles that fill a box from the origin, each in the middle of its cell."""
    cells = np.moveaxis(np.indices(shape), 0, -1).reshape(-1, 3)
    return (SPACING * (cells + 0.5)).astype(np.float32)


def volumes(folder: Path, snapshot: Snapshot, names: list[str] | None = None) -> dict[str, VdbGrid]:
    path = folder / "a.vdb"
    find_format("vdb").write(path, snapshot, names or [])
    return {grid.name: grid for grid in read_vdb(path)}


def dense(grid: VdbGrid, low: tuple[int, int, int], high: tuple[int, int, int]) -> Array:
    """Values of all nodes between two corners, of which the second is beyond."""
    shape = tuple(np.subtract(high, low))
    box = np.full((*shape, *grid.values.shape[4:]), grid.background, np.float32)
    leaves = [(o, v) for o, v in zip(grid.origins, grid.values, strict=True)]
    leaves += [
        (o, np.full((8, 8, 8), v))
        for o, v in zip(grid.tiles.origins, grid.tiles.values, strict=True)
    ]
    for origin, values in leaves:
        begin = np.maximum(origin, low)
        end = np.minimum(origin + 8, high)
        if (begin < end).all():
            to = tuple(slice(a, b) for a, b in zip(begin - low, end - low, strict=True))
            source = tuple(slice(a, b) for a, b in zip(begin - origin, end - origin, strict=True))
            box[to] = values[source]
    return box


# Sums on nodes


def direct(cloud: Cloud) -> dict[tuple[int, int, int], Array]:
    """The same sums one pair at a time, with B-splines written out by their pieces."""
    sums: dict[tuple[int, int, int], Array] = {}
    for place, reach, value in zip(cloud.place, cloud.reach, cloud.values, strict=True):
        axes = []
        for x in place:
            nodes = range(int(np.ceil(x - reach)), int(np.floor(x + reach)) + 1)
            weights = {n: bspline(1.5 * (n - x) / reach) for n in nodes}
            total = sum(weights.values())
            axes.append({n: w / total for n, w in weights.items() if w > 0.0})
        for i, a in axes[0].items():
            for j, b in axes[1].items():
                for k, c in axes[2].items():
                    sums[i, j, k] = sums.get((i, j, k), 0.0) + a * b * c * value
    return sums


def bspline(t: float) -> float:
    if abs(t) <= 0.5:
        return 0.75 - t * t
    return 0.5 * (1.5 - abs(t)) ** 2 if abs(t) < 1.5 else 0.0


@settings(max_examples=25)
@given(
    st.lists(
        st.tuples(*[st.floats(-40.0, 40.0)] * 3, st.floats(1.0, 4.6), st.floats(-1.0, 1.0)),
        max_size=3,
    )
)
def test_sums_are_those_of_a_plain_loop(rows: list[tuple[float, ...]]) -> None:
    """Both add the same few numbers in another order: a few units of the last place apart."""
    table = np.array(rows).reshape(-1, 5)
    cloud = Cloud(table[:, :3], table[:, 3], np.column_stack([np.ones(len(table)), table[:, 4]]))
    found: dict[tuple[int, int, int], Array] = {}
    for layer in layers(cloud):
        for leaf, sums in zip(layer.leaves, layer.sums, strict=True):
            for at in np.flatnonzero(sums[:, 0]):
                i, j, k = (8 * leaf + np.unravel_index(at, (8, 8, 8))).tolist()
                assert (i, j, k) not in found
                found[i, j, k] = sums[at]
    wanted = {node: sums for node, sums in direct(cloud).items() if sums[0] > 1e-14}
    assert wanted.keys() <= found.keys()
    for node, sums in found.items():
        np.testing.assert_allclose(sums, wanted.get(node, 0.0), atol=1e-12)


def test_layers_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    cloud = Cloud(rng.uniform(-60, 60, (500, 3)), rng.uniform(1, 6, 500), rng.random((500, 2)))
    whole = list(layers(cloud))
    monkeypatch.setattr("viscoil.exchange.splat.LAYER", 20)
    monkeypatch.setattr("viscoil.exchange.splat.CHUNK", 999)
    parts = list(layers(cloud))
    assert (len(whole), len(parts) > 5) == (1, True)
    leaves = np.concatenate([part.leaves for part in parts])
    np.testing.assert_array_equal(leaves, whole[0].leaves)
    sums = np.concatenate([part.sums for part in parts])
    assert sums.shape[1:] == (LEAF, 2)
    np.testing.assert_allclose(sums, whole[0].sums, atol=1e-12)


# Fog


def test_density_is_the_volume_of_the_particles(tmp_path: Path) -> None:
    """Each brings (size x spacing)³, and weights sum to one: to single precision."""
    values = channels(500)
    grid = volumes(tmp_path, frame(values))["density"]
    assert (grid.grid_class, grid.background) == ("fog volume", 0.0)
    assert grid.voxel_size == SPACING * values["size"].min()
    volume = grid.voxel_size**3 * grid.values.sum(dtype=np.float64)
    np.testing.assert_allclose(volume, ((values["size"] * SPACING) ** 3).sum(), rtol=1e-6)
    np.testing.assert_array_equal(grid.active, grid.values > 0.0)


def test_a_lattice_fills_space(tmp_path: Path) -> None:
    """B-splines at a lattice's points sum to one everywhere: the density is 1 within, 1/2 at a face."""
    density = volumes(tmp_path, frame({"position": lattice((9, 9, 9))}))["density"]
    np.testing.assert_allclose(dense(density, (1, 1, 1), (9, 9, 9)), 1.0, rtol=1e-6)
    np.testing.assert_allclose(dense(density, (0, 1, 1), (1, 9, 9)), 0.5, rtol=1e-6)


def test_momentum_and_heat(tmp_path: Path) -> None:
    """The density times a mean, summed, is what the particles have; constants stay what they are."""
    values = channels(500)
    steady = np.full(500, 3.5, np.float32)
    names = ["velocity", "temperature", "steady"]
    grids = volumes(tmp_path, frame({**values, "steady": steady}), names)
    assert set(grids) == {"density", "surface", *names}
    density = grids["density"]
    share = density.voxel_size**3 * density.values.astype(np.float64)
    volume = (values["size"].astype(np.float64) * SPACING) ** 3
    for name in ("velocity", "temperature"):
        array = values[name].reshape(500, -1)
        mean = grids[name].values.reshape(*share.shape, -1)
        momentum = (share[..., None] * mean).sum(axis=(0, 1, 2, 3))
        scale = (volume[:, None] * np.abs(array)).sum(axis=0)
        np.testing.assert_allclose(
            momentum / scale, (volume[:, None] * array).sum(0) / scale, atol=1e-6
        )
        np.testing.assert_array_equal(grids[name].active, density.active)
    still = grids["steady"]
    np.testing.assert_allclose(still.values[still.active], 3.5, rtol=1e-6)


# Surface


def test_a_particle_is_a_sphere(tmp_path: Path) -> None:
    """Within the band the level set is |x - c| - d/2, to single precision."""
    centre = np.array([[0.3, -0.2, 1.1]], np.float32)
    grid = volumes(tmp_path, frame({"position": centre}))["surface"]
    assert (grid.grid_class, grid.voxel_size, grid.background) == ("level set", VOXEL, VOXEL)
    low = np.array((-8, -8, 0))
    nodes = low + np.moveaxis(np.indices((24, 24, 24)), 0, -1)
    distance = np.linalg.norm(VOXEL * nodes - centre[0], axis=-1) - SPACING / 2
    found = dense(grid, (-8, -8, 0), (16, 16, 24))
    near = np.abs(distance) < 0.5 * VOXEL
    assert near.sum() > 10
    np.testing.assert_allclose(found[near], distance[near], atol=1e-6)
    assert (found[distance > VOXEL] == np.float32(VOXEL)).all()
    np.testing.assert_array_equal(grid.active, np.abs(grid.values) < np.float32(VOXEL))


def test_a_box_of_particles_is_a_box(tmp_path: Path) -> None:
    """Its faces lie half a spacing beyond the last particles; far from edges a node on a face is at 0,
    one voxel outside at least at the band's two thirds, where the fog's surface is the nearer one."""
    grid = volumes(tmp_path, frame({"position": lattice((16, 16, 16))}))["surface"]
    middle = dense(grid, (-3, 14, 14), (36, 18, 18))
    np.testing.assert_allclose(middle[3], 0.0, atol=1e-7)
    np.testing.assert_allclose(middle[35], 0.0, atol=1e-7)
    assert (middle[:3] > 0.6 * VOXEL).all() and (middle[36:] > 0.6 * VOXEL).all()
    assert (middle[4:35] <= -0.9 * VOXEL).all()
    # Leaves 1 and 2 along each axis, and number 3, which ends a voxel below a face, along one of them.
    assert len(grid.tiles.origins) == 2**3 + 3 * 2**2
    assert (grid.tiles.values == -np.float32(VOXEL)).all() and not grid.tiles.active.any()


def test_disorder_leaves_no_holes(tmp_path: Path) -> None:
    """Particles moved by a quarter of their spacing: the inside stays one piece of the right volume."""
    rng = np.random.default_rng(1)
    position = lattice((16, 16, 16)) + SPACING * rng.uniform(-0.25, 0.25, (4096, 3))
    grid = volumes(tmp_path, frame({"position": position.astype(np.float32)}))["surface"]
    box = dense(grid, (-4, -4, -4), (36, 36, 36))
    assert (box[7:30, 7:30, 7:30] < 0.0).all()
    volume = VOXEL**3 * (box < 0.0).sum()
    assert 0.9 < volume / (16 * SPACING) ** 3 < 1.05


# Files


@pytest.mark.parametrize("count", [1, 200])
def test_openvdb_reads_them(tmp_path: Path, openvdb: None, count: int) -> None:
    find_format("vdb").write(
        tmp_path / "a.vdb", frame(channels(count)), ["velocity", "temperature"]
    )
    ours = sorted(read_vdb(tmp_path / "a.vdb"), key=identity)
    assert {grid.name for grid in ours} == {"density", "surface", "velocity", "temperature"}
    peer("dump", tmp_path)
    theirs = peer_grids(tmp_path / "a.npz")
    for grid, (other, facts) in zip(ours, theirs, strict=True):
        assert_same(replace(grid, metadata={}), other)
        assert facts["voxels"] == grid.active.sum()
        assert facts["voxels"] > 0


def test_openvdb_reads_empty_ones(tmp_path: Path, openvdb: None) -> None:
    find_format("vdb").write(tmp_path / "a.vdb", frame(channels(0)), ["velocity"])
    peer("dump", tmp_path)
    with np.load(tmp_path / "a.npz") as found:
        facts = [json.loads(str(found[f"{i} facts"])) for i in range(found["count"])]
    assert {(f["name"], f["type"], f["voxels"]) for f in facts} == {
        ("density", "float", 0),
        ("surface", "float", 0),
        ("velocity", "vec3s", 0),
    }


def test_what_volumes_hold() -> None:
    form = find_format("vdb")
    kinds = {"f4": True, "f8": True, "i4": False, "?": False}
    assert {kind: form.holds("a", np.zeros(2, kind)) for kind in kinds} == kinds
    widths = {1: True, 2: False, 3: True, 6: False}
    assert {width: form.holds("a", np.zeros((2, width))) for width in widths} == widths


def test_particles_that_got_lost(tmp_path: Path) -> None:
    position = np.array([[0, 0, 0], [0, 1e9, 0]], np.float32)
    with pytest.raises(RunError, match="too far apart for a volume"):
        volumes(tmp_path, frame({"position": position}))
    assert list(tmp_path.iterdir()) == []


def test_the_fog_falls_off_at_a_flat_surface_as_the_level_set_assumes() -> None:
    """Layers at -1/2, -3/2, … spacings, and nodes half a spacing to either side of the surface."""
    layer = -0.5 - np.arange(4, dtype=np.float64)
    inside, outside = (_bspline(node - layer).sum() for node in (-0.5, 0.5))
    assert inside - outside == pytest.approx(STEEPEST, rel=1e-15)
