"""The table of materials that kernels of forces and walls read."""

import numpy as np
import pytest

from viscoil.core.compute import view
from viscoil.materials.table import Materials
from viscoil.scene import Material

HONEY = Material.from_preset("honey")
WATER = Material(density=1000.0, viscosity=0.0, surface_tension=0.07, wall_friction=0.5)

pytestmark = pytest.mark.usefixtures("compute")


def test_it_has_a_row_for_each_material() -> None:
    """All of it is written over what was there; single precision rounds to 6e-8."""
    materials = Materials([HONEY, WATER])
    for name in ("density", "surface_tension", "adhesion", "xsph", "wall_friction"):
        getattr(materials.table, name).fill(np.nan)
    materials.update()
    for name in ("density", "surface_tension", "adhesion", "xsph", "wall_friction"):
        expected = [getattr(HONEY, name), getattr(WATER, name)]
        np.testing.assert_allclose(view(getattr(materials.table, name)), expected, rtol=6e-8)
    assert view(materials.table.active).tolist() == [1, 0]


def test_it_follows_a_material_that_changes() -> None:
    materials = Materials([HONEY, WATER])
    materials.update()
    thick = WATER.model_copy(update={"viscosity": 1.0, "modulus": float("inf"), "density": 900.0})
    materials.materials[1] = thick
    materials.update()
    assert view(materials.table.active).tolist() == [1, 1]
    assert view(materials.table.density).tolist() == [HONEY.density, 900.0]
    assert materials.largest("surface_tension") == 0.07
