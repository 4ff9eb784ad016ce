"""What errors of a step are measured by, where a share of something would be too strict or too loose."""

import math

from viscoil.forces.protocol import StepView

# How fast errors of density and strain may come about, in units of √(g/d), the rate at which particles
# fall through their own spacing. A choice: a twentieth.
TOLERATED_RATE = 0.05


def tolerated_strain(view: StepView) -> float:
    """What such a rate makes in the step; 0 without gravity."""
    gravity = math.hypot(*view.gravity)
    return float(TOLERATED_RATE * math.sqrt(gravity / view.scale.spacing) * view.scale.dt)
