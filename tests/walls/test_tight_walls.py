"""Walls of no thickness, and particles that are thrown at them within a step."""

from pathlib import Path

import numpy as np
import pytest
from bowl_rigs import ShakenBowl
from rigs import FLOOR, SPACING, Rig

from viscoil.core.compute import view, write

DT = 1e-3


@pytest.mark.physics
@pytest.mark.parametrize(
    ("viscosity", "contact"),
    [(0.0, "slip"), (5.0, "slip"), (1000.0, "sticky")],
    ids=["water", "syrup", "tar"],
)
def test_a_shaken_bowl_keeps_every_particle(viscosity: float, contact: str, tmp_path: Path) -> None:
    bowl = ShakenBowl.filled(tmp_path, 0.05, 0.5, viscosity, contact)
    bowl.shake()
    assert bowl.simulation.particles.count > 1500
    assert bowl.outside == 0


def _reined_in(height: float, change: float) -> float:
    """Height (m) to which a particle at rest is sent when a stress gives it a velocity."""
    rig = Rig([(0.0, height, 0.0)], colliders=[FLOOR])
    c = rig.prepare(DT)
    write(c.unknowns.velocity, [(0.0, change, 0.0)])
    rig.walls.bound_others(c.n, c.view.scale, c.view.near, c.unknowns.velocity)
    return height + DT * float(view(c.unknowns.velocity, 1)[0][1])


def test_a_particle_without_a_contact_is_not_thrown_at_a_wall() -> None:
    """Its place may still be corrected by a spacing, and it rests half of one from the wall."""
    assert _reined_in(5 * SPACING, -20 * SPACING / DT) == pytest.approx(1.5 * SPACING)


@pytest.mark.parametrize("spacings", [-3.0, 3.0])
def test_a_particle_that_meets_no_wall_keeps_its_velocity(spacings: float) -> None:
    moved = _reined_in(5 * SPACING, spacings * SPACING / DT)
    np.testing.assert_allclose(moved, (5 + spacings) * SPACING, rtol=1e-5)
