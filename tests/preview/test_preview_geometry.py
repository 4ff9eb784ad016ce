"""The preview's geometry against closed forms: blocks of particles, their surface, colliders."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from preview_rigs import SOLIDS, D, cube, pose, sample_surface

from viscoil.preview.blocks import CELLS, sort_into_blocks

# Blocks


@given(st.integers(0, 2**32 - 1), st.floats(0.02, 3.0))
def test_every_particle_is_in_its_block_once(seed, extent):
    rng = np.random.default_rng(seed)
    position = rng.uniform(-extent, extent, (200, 3)).astype(np.float32)
    blocks = sort_into_blocks(position, D)
    assert sorted(blocks.order) == list(range(200))
    width = CELLS * blocks.cell
    counts = np.diff(blocks.start).reshape(blocks.slot.shape)
    # Rounding may put a particle that is on a block's face on either side of it.
    place = np.repeat(np.argwhere(counts >= 0), counts.ravel(), axis=0)
    local = (position[blocks.order] - blocks.origin) / width - place
    assert local.min() > -1e-4
    assert local.max() < 1 + 1e-4
    assert np.all(blocks.slot[counts > 0] >= 0)
    np.testing.assert_array_equal(np.argwhere(blocks.slot >= 0), blocks.place)


def test_leaps_never_pass_a_block():
    """A place marked -k has no block within k - 1 places of it along all axes."""
    rng = np.random.default_rng(3)
    blocks = sort_into_blocks(rng.uniform(-4, 4, (30, 3)).astype(np.float32), D)
    assert blocks.slot.min() < -2
    for at in np.argwhere(blocks.slot < 0):
        k = -blocks.slot[tuple(at)]
        gaps = np.abs(blocks.place - at).max(axis=1)
        assert gaps.min() >= k


def test_far_apart_particles_do_not_exhaust_memory():
    position = np.array([[0, 0, 0], [1e4, 1e4, 1e4]], dtype=np.float32)
    blocks = sort_into_blocks(position, D)
    assert blocks.slot.size <= 1 << 22
    assert np.all(blocks.slot[tuple(blocks.place.T)] >= 0)


# The surface


def test_a_lone_drop_keeps_its_volume(compute):
    """Its radius is 0.62 spacings, but for the error of linear cells.

    The distance from a point is convex, with curvature 1/r in two directions: between nodes h apart
    it is at most 2 h^2 / 8r = 0.2 spacings too large (h = 0.7, r = 0.62), and never too small.
    """
    center = np.array([0.33, 0.21, -0.4])
    directions = np.random.default_rng(0).normal(size=(50, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = center + 0.62 * D * directions
    distance, normal = sample_surface(points, center[None])
    assert distance.min() > -1e-5
    assert distance.max() < 0.2 * D
    assert np.min(np.sum(normal * directions, axis=1)) > 0.85


def test_a_flat_surface_is_where_it_is(compute):
    """Half a spacing above the outermost particles, with a normal that points straight up."""
    position = cube((0.0, -1.0, 0.0), 2.0)
    x = np.linspace(-0.3, 0.3, 21)
    points = np.stack([x, np.zeros(21), 0.7 * x], axis=1)
    distance, normal = sample_surface(points, position)
    assert np.abs(distance).max() < 0.1 * D
    assert normal[:, 1].min() > 0.98
    step = np.array([0, 0.5 * D, 0])
    above, _ = sample_surface(points + step, position)
    below, _ = sample_surface(points - step, position)
    assert above.min() > 0.2 * D
    assert below.max() < -0.2 * D


# Colliders


@cache
def hit_kernel():
    """One for all tests, because it takes seconds to compile."""
    import quadrants as qd

    from viscoil.preview.solids import Solids, hit_solid, solid_distance

    vec3, vec4 = qd.types.vector(3, qd.f32), qd.types.vector(4, qd.f32)

    @qd.kernel
    def hit(
        s: Solids,
        o: qd.types.NDArray[vec3, 1],
        d: qd.types.NDArray[vec3, 1],
        hits: qd.types.NDArray[vec4, 1],
        distances: qd.types.NDArray[qd.f32, 1],
    ):
        for i in range(o.shape[0]):
            hits[i] = hit_solid(s, 0, o[i], d[i])
            distances[i] = solid_distance(s, 0, o[i])

    return hit


def hit_rays(spec, origins, directions):
    """Normal and length of the first hit of each ray, and the distance of each origin."""
    import quadrants as qd

    from viscoil.preview.distance_grid import device_array
    from viscoil.preview.picture import _solids

    vec3, vec4 = qd.types.vector(3, qd.f32), qd.types.vector(4, qd.f32)
    n = len(origins)
    hits = device_array(np.full((n, 4), np.nan, dtype=np.float32), vec4)
    distances = device_array(np.full(n, np.nan, dtype=np.float32), qd.f32)
    rays = [device_array(a.astype(np.float32), vec3) for a in (origins, directions)]
    hit_kernel()(_solids([pose(spec)], None), *rays, hits, distances)
    result = hits.to_numpy()
    return result[:, :3], result[:, 3], distances.to_numpy()


@pytest.mark.parametrize("spec", SOLIDS, ids=lambda spec: spec.shape)
def test_rays_hit_colliders_where_they_are(compute, spec):
    """Checked against the distance that the solver uses: zero at the hit, never negative before.

    float32 over rays of length 3 leaves a few 1e-6; 1e-4 is generous and far below a pixel.
    """
    from viscoil.colliders.primitives import distance

    rng = np.random.default_rng(5)
    origins = rng.normal(size=(400, 3))
    origins *= 3.0 / np.linalg.norm(origins, axis=1)[:, None]
    aim = rng.uniform(-0.6, 0.6, (400, 3)) - origins
    directions = aim / np.linalg.norm(aim, axis=1)[:, None]
    outside = distance(spec, origins, 0.0) > 0
    origins, directions = origins[outside], directions[outside]
    normal, length, near = hit_rays(spec, origins, directions)
    np.testing.assert_allclose(near, distance(spec, origins, 0.0), atol=1e-4)

    found = length < 1e29
    assert 0.1 * len(found) < found.sum()
    at = origins[found] + length[found, None] * directions[found]
    np.testing.assert_allclose(distance(spec, at, 0.0), 0.0, atol=1e-4)
    ahead = distance(spec, at + 1e-2 * normal[found], 0.0)
    np.testing.assert_allclose(ahead, 1e-2, atol=2e-4)
    for share in np.linspace(0.0, 0.999, 40):
        stop = np.where(found, length, 8.0)[:, None]
        before = origins + share * stop * directions
        assert distance(spec, before, 0.0).min() > -1e-4
