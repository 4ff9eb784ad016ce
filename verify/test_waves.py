"""A standing wave of an inviscid fluid: how fast it is, and how long it lasts."""

from math import exp, pi

import numpy as np
from figures import report
from wave_rigs import OMEGA, swing, tilted_tank

PEER = 0.29  # what DFSPH of SPlisHSPlasH loses of its energy in a period, at 20 and 40 particles


def fitted(t: np.ndarray, x: np.ndarray) -> tuple[float, float]:
    """Frequency over theory, and share of the energy that a period takes, of a damped cosine."""
    best = (np.inf, 0.0, 0.0)
    for omega in OMEGA * np.linspace(0.8, 1.2, 81):
        for decay in np.linspace(-0.2, 2.0, 89):
            swing = np.exp(-decay * t)
            basis = np.stack([swing * np.cos(omega * t), swing * np.sin(omega * t), t**0], axis=1)
            left = np.linalg.lstsq(basis, x, rcond=None)[1]
            best = min(best, (float(left[0]), omega, decay))
    _left, omega, decay = best
    return omega / OMEGA, 1.0 - exp(-2.0 * decay * 2.0 * pi / omega)


def test_a_standing_wave_has_its_frequency_and_lasts() -> None:
    """ω² = g k tanh(k H); within 2 %. It loses no more than the peer's, and less with more particles."""
    lost = []
    for n in (20, 40):
        t, x = swing(tilted_tank(n), 3.0)
        frequency, loss = fitted(t[t > 0.2], x[t > 0.2])
        report(f"wave, {n} particles: frequency over theory", frequency, "within 0.02")
        report(f"wave, {n} particles: energy lost in a period", loss, f"at most {PEER}; aim 0.15")
        assert abs(frequency - 1.0) < 0.02
        lost.append(loss)
    assert lost[1] < lost[0]
    assert lost[1] < PEER
