"""A standing wave of an inviscid fluid: how fast it is, and how long it lasts."""

from math import exp, pi, sqrt, tanh

import numpy as np
from figures import report

from viscoil import Scene, Simulation

LENGTH, DEPTH, TILT = 1.0, 0.5, 0.06  # m, m, of gravity
OMEGA = sqrt(9.81 * pi / LENGTH * tanh(pi * DEPTH / LENGTH))  # 1/s
PEER = 0.29  # what DFSPH of SPlisHSPlasH loses of its energy in a period, at 20 and 40 particles


def wave(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Times (s) and centres of mass (m) of n particles along a tank whose gravity is tilted."""
    d = LENGTH / n
    walls = {"shape": "box", "container": True, "open": ["+y"], "contact": "slip"}
    scene = {
        "simulation": {"spacing": d, "duration": 9.0, "gravity": (TILT * 9.81, -9.81, 0.0)},
        "materials": {"water": {"density": 1000.0, "viscosity": 0.0}},
        "fluids": [
            {"material": "water", "shape": "box", "center": (0.5 * LENGTH, 0.5 * DEPTH, 3 * d),
             "size": (LENGTH, DEPTH, 6 * d)}
        ],
        "colliders": [
            {**walls, "center": (0.5 * LENGTH, 2 * DEPTH, 3 * d), "size": (LENGTH, 4 * DEPTH, 6 * d)}
        ],
    }  # fmt: skip
    simulation = Simulation(Scene.model_validate(scene))
    times, places = [], []
    while simulation.time < 3.0:
        simulation.step()
        times.append(simulation.time)
        places.append(simulation.particles["position"][:, 0].astype(np.float64).mean())
    return np.array(times), np.array(places)


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
        t, x = wave(n)
        frequency, loss = fitted(t[t > 0.2], x[t > 0.2])
        report(f"wave, {n} particles: frequency over theory", frequency, "within 0.02")
        report(f"wave, {n} particles: energy lost in a period", loss, f"at most {PEER}; aim 0.15")
        assert abs(frequency - 1.0) < 0.02
        lost.append(loss)
    assert lost[1] < lost[0]
    assert lost[1] < PEER
