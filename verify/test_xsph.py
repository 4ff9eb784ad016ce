"""What viscosity XSPH amounts to: decaying shear waves, and the spin that it takes."""

import numpy as np
import pytest
from figures import report
from rigs import USUAL

from viscoil.core.compute import initialize
from viscoil.neighbors.lattice import calibrate, smoothing_value
from viscoil.rheology.drop import FreeDrop
from viscoil.rheology.slab import Grid, WaveSlab
from viscoil.scene import Material

# c, spacing (m), step (s)
CASES = [
    (0.05, 0.01, 1e-3),
    (0.5, 0.01, 1e-3),
    (5.0, 0.01, 1e-3),
    (50.0, 0.01, 1e-3),
    (0.5, 0.005, 1e-3),
    (0.5, 0.02, 1e-3),
    (0.5, 0.01, 4e-3),
    (0.5, 0.01, 2.5e-4),
]


class Box(Grid):
    """Periodic along all axes: at a free surface, where neighbours lack, XSPH does less."""

    @property
    def periods(self) -> tuple[float, float, float]:
        x, y, z = (count * self.spacing for count in self.counts)
        return (x, y, z)


def constant() -> float:
    """k of ν = k c h²/Δt on a cubic lattice with h = 2 d: half the second moment of W."""
    axis = np.arange(-2, 3)
    x = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), -1).reshape(-1, 3)
    w = calibrate(USUAL, 2.0).value * smoothing_value(USUAL, np.linalg.norm(x, axis=1) / 2.0)
    return float(0.5 * (w * x[:, 1] ** 2).sum() / 4.0)


def viscosity(c: float, spacing: float, dt: float, steps: int) -> float:
    """ν from the decay of a wave of 24 spacings, m²/s."""
    slab = WaveSlab(
        Material(density=1000.0, viscosity=0.0, xsph=c), Box(spacing, 24, disorder=0.05)
    )
    slab.launch(0.02 / dt * min(1.0, 2.0 / steps))  # so slow that it shears the slab by 4 % in all
    start = slab.speed
    for _ in range(steps):
        slab.step(dt)
    return float(np.log(start / slab.speed) / (slab.wave_number**2 * steps * dt))


@pytest.mark.parametrize(("c", "spacing", "dt"), CASES)
def test_effective_viscosity(c: float, spacing: float, dt: float) -> None:
    """ν = k c h²/Δt to 10 % for c ≥ 0.5; below, the solver's own viscosity is no longer small."""
    initialize()
    decay = constant() * c * (2.0 * 2.0 * np.pi / 24) ** 2  # of a step
    steps = max(1, min(200, round(0.4 / decay)))
    measured = viscosity(c, spacing, dt, steps)
    ratio = measured * dt / (c * (2.0 * spacing) ** 2)
    name = f"xsph c {c:g}, d {spacing:g} m, Δt {dt:g} s"
    report(f"{name}: ν, m²/s", measured, "")
    report(f"{name}: ν Δt/(c h²)", ratio, f"{constant():.4f}, to 10 % for c of 0.5 and more")
    assert ratio == pytest.approx(constant(), rel=0.1 if c >= 0.5 else 0.4)


def test_spin_is_lost() -> None:
    """XSPH is no physical viscosity: a free ball that spins loses spin; how much is printed."""
    for c in (0.05, 0.5):
        drop = FreeDrop(
            Material(density=1000.0, viscosity=0.0, surface_tension=0.07, xsph=c), 5e-4, 2.5e-3
        )
        x = drop.offsets()
        drop.particles["velocity"] = np.cross([0.0, 0.0, 20.0], x)
        before = _spin(drop)
        drop.advance(0.02, 5e-4)
        report(f"xsph c {c:g}: spin kept after 40 steps", _spin(drop) / before, "not conserved")


def _spin(drop: FreeDrop) -> float:
    u = drop.particles["velocity"].astype(np.float64)
    return float(np.cross(drop.offsets(), u)[:, 2].sum())
