# mypy: disable-error-code="valid-type,no-untyped-def,no-untyped-call,misc"
"""Which corners of bricks are inside of a mesh, from as few winding numbers as possible.

Two neighbouring corners whose distances to the surface add up to more than the edge between them
have no face between them. Corners joined by such edges form a patch within their brick, and away
from holes the winding number of one corner decides for its whole patch.
"""

import numpy as np
import quadrants as qd
from numpy.typing import NDArray

from viscoil.core.compute import Floats, Ints, scalars, view
from viscoil.geometry.bricks.brick_field import CORNERS, Float, Float32, Int32, corner_offsets
from viscoil.geometry.bricks.rasterize import as_array
from viscoil.geometry.bricks.winding import INSIDE, Winding

# The winding number of a mesh with a hole differs from a whole number by the hole's solid angle / 4π.
# Where that is below WHOLE, no hole is near enough to matter within a patch. Where all samples of a
# patch are farther than CLEAR from INSIDE, on the same side of it, they decide for the patch too.
WHOLE = 0.02
CLEAR = 0.2
SAMPLES = 5  # corners of a patch, near open meshes only


@qd.kernel(fastcache=True)
def _find_patches(bricks: qd.i32, distance: Floats, patch: Ints):
    """patch ← the lowest corner of the patch that a corner belongs to, within each brick."""
    for brick in range(bricks):
        base = 729 * brick
        for k in range(729):
            patch[base + k] = k
        changed = 1
        while changed == 1:
            changed = 0
            for step in range(1458):
                # forth and back: a patch is found in few sweeps
                k = step if step < 729 else 1457 - step
                x, y, z = k % 9, k // 9 % 9, k // 81
                for axis in qd.static(range(3)):
                    place = x if axis == 0 else (y if axis == 1 else z)
                    if place < 8:
                        other = k + (1 if axis == 0 else (9 if axis == 1 else 81))
                        # a little more, or rounding joins what a face along the axes divides
                        if distance[base + k] + distance[base + other] > 1.001:
                            lowest = qd.min(patch[base + k], patch[base + other])
                            if patch[base + k] != patch[base + other]:
                                changed = 1
                            patch[base + k] = lowest
                            patch[base + other] = lowest


def inside(
    distance: Float32, places: Int32, winding: Winding, near_edge: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """(bricks, 729) Whether corners are inside; distances and the mesh are in cells.

    For bricks `near_edge` of an open mesh every corner's winding number is computed, because there
    it changes from place to place.
    """
    first, index = _patches(distance)
    samples = _spread(index, len(first)) if near_edge.any() else first[:, None]
    w = winding(_corners(places, samples.reshape(-1))).reshape(samples.shape)
    whole = (np.abs(w - np.round(w[:, :1])) < WHOLE).all(axis=1)
    clear = (w > INSIDE + CLEAR).all(axis=1) | (w < INSIDE - CLEAR).all(axis=1)
    settled = (whole | clear) & ~near_edge[first // CORNERS]
    answer = (w[:, 0] > INSIDE)[index]
    unsettled = np.flatnonzero(~settled[index])
    answer[unsettled] = winding.inside(_corners(places, unsettled))
    return np.asarray(answer.reshape(distance.shape))


def _corners(places: Int32, corner: NDArray[np.int64]) -> Float:
    """(n, 3) Places, in cells, of corners that are numbered through all bricks."""
    return np.asarray(8.0 * places[corner // CORNERS] + corner_offsets()[corner % CORNERS])


def _patches(distance: Float32) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first corner of each patch, and the patch of each corner."""
    count = len(distance)
    patch = scalars(qd.i32, count * CORNERS)
    _find_patches(count, as_array(distance.reshape(-1)), patch)
    local = view(patch, count * CORNERS).reshape(count, CORNERS)
    is_first = (local == np.arange(CORNERS)).reshape(-1)
    number = np.cumsum(is_first) - 1
    of_corner = local + CORNERS * np.arange(count, dtype=np.int64)[:, None]
    return np.flatnonzero(is_first), number[of_corner.reshape(-1)]


def _spread(index: NDArray[np.int64], patches: int) -> NDArray[np.int64]:
    """(patches, SAMPLES) Corners spread over each patch, its first one first."""
    order = np.argsort(index, kind="stable")
    count = np.bincount(index, minlength=patches)
    begin = np.cumsum(count) - count
    steps = np.linspace(0.0, 1.0, SAMPLES)
    return np.asarray(order[begin[:, None] + ((count - 1)[:, None] * steps).astype(np.int64)])
