"""Figure 6 of Barreiro 2017: drift of a fully viscous cube that falls onto the ground."""

from math import sqrt

import numpy as np
import pytest
from figures import FOLDER, by_id, cube, report

from viscoil import Scene, Simulation
from viscoil.core.errors import DivergedError

D = 0.02
SIDE = 22
DROP = 0.1  # m
CONTACT = sqrt(2 * DROP / 9.81)  # s
EXPLODED = float("inf")


def drift(dt: float, total: int, projection: str, after: float = 1.0) -> list[tuple[float, float]]:
    """(time since contact, RMS distance in spacings from the undeformed landed cube)."""
    half = total // 2 if projection == "doubly" else total
    scene = Scene.model_validate(
        {
            "simulation": {
                "spacing": D,
                "duration": CONTACT + after,
                "fps": 1.0 / dt,
                "time_step": dt,
            },
            "solver": {
                "projection": projection,
                "velocity_iterations": half,
                "velocity_tolerance": 0.0,
                "position_iterations": half,
                "max_position_iterations": half,
            },
            "materials": {"stiff": {"density": 1000.0, "relaxation_time": 0.0, "compliance": 0.0}},
            "fluids": [cube("stiff", SIDE, D, DROP)],
            "colliders": [{"shape": "plane", "contact": "sticky"}],
        }
    )
    simulation = Simulation(scene)
    landed = by_id(simulation.snapshot()) - [0.0, DROP, 0.0]
    curve = []
    try:
        for frame in simulation.frames():
            offset = by_id(frame) - landed
            rms = float(np.sqrt((offset**2).sum(axis=1).mean())) / D
            curve.append((frame.time - CONTACT, rms))
    except DivergedError:
        curve.append((curve[-1][0] + dt, EXPLODED))
    return curve


def test_doubly_constrained_drifts_less_at_30_ms_for_every_total() -> None:
    curves = {}
    for total in (10, 20, 40, 80):
        for projection in ("doubly", "position"):
            curves[projection, total] = drift(0.03, total, projection)
            final = curves[projection, total][-1][1]
            report(f"drift at 30 ms, {total} iterations, {projection}", final, "spacings, RMS")
    _plot(curves)
    for total in (10, 20, 40, 80):
        assert curves["doubly", total][-1][1] < curves["position", total][-1][1]


def test_stable_at_60_ms() -> None:
    for total in (40, 80):
        final = drift(0.06, total, "doubly")[-1][1]
        report(f"drift at 60 ms, {total} iterations", final, "finite: stable")
        assert final < SIDE / 2  # a heap of that edge, not an explosion


@pytest.mark.parametrize("iterations", [20])
def test_small_steps_hold_the_cube(iterations: int) -> None:
    final = drift(1 / 240, 2 * iterations, "doubly")[-1][1]
    report("drift at 1/240 s, 20 iterations, 1 s after contact", final, "under 0.3 spacings")
    assert final < 0.3


def _plot(curves: dict[tuple[str, int], list[tuple[float, float]]]) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    figure, axis = plt.subplots(figsize=(7, 4.5))
    for (projection, total), curve in curves.items():
        style = "-" if projection == "doubly" else "--"
        name = "DC-PBD" if projection == "doubly" else "positions only"
        axis.plot(*zip(*curve, strict=True), style, label=f"{name}, {total}")
    axis.set(
        xlabel="time since contact (s)", ylabel="RMS drift (spacings)", xlim=(-0.1, 1.0),
        yscale="log", ylim=(1e-3, 1e3), title="Drift of a viscous cube, Δt = 30 ms",
    )  # fmt: skip
    axis.legend(title="iterations in all", fontsize=8)
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / "figure-6-drift.png", dpi=120, bbox_inches="tight")
