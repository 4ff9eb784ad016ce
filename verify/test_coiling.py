"""Figure 5 of Barreiro 2017: a liquid rope coils with little compliance and does not with much."""

import numpy as np
import pytest
from figures import picture, report

from viscoil import Scene, Simulation


def contact_azimuths(scene: Scene, name: str) -> tuple[np.ndarray, np.ndarray]:
    """(times, positions in the plane) of the rope where it meets the heap.

    The rope is followed down from the nozzle: the mean of the particles in each layer two spacings
    high, until a layer holds half as many particles again as the rope; the last layer is the contact.
    """
    simulation = Simulation(scene)
    times, points = [], []
    for frame in simulation.frames():
        found = _contact(frame.channels["position"], scene)
        if found is not None:
            times.append(frame.time)
            points.append(found)
    picture(name, scene, frame)
    return np.array(times), np.array(points)


def _contact(x: np.ndarray, scene: Scene) -> np.ndarray | None:
    d = scene.simulation.spacing
    top = scene.emitters[0].center[1]
    layer = 2.0 * d
    rope = np.count_nonzero((x[:, 1] < top) & (x[:, 1] > top - layer))
    place = None
    for height in np.arange(top - layer, -layer, -layer):
        inside = x[(x[:, 1] > height) & (x[:, 1] <= height + layer)]
        if len(inside) == 0:
            return None
        if len(inside) > 1.5 * rope:
            return place
        place = inside[:, [0, 2]].mean(axis=0)
    return None


def turns_and_purity(times: np.ndarray, points: np.ndarray) -> tuple[float, float, float]:
    """Turns of the contact point, its frequency (Hz), and the share of its power in that line.

    The point is a complex number; circling at one frequency is one line in its spectrum, and the
    share counts that line and its direct neighbours, of everything but the mean.
    """
    z = points[:, 0] + 1j * points[:, 1]
    z = z - z.mean()
    turns = abs(np.unwrap(np.angle(z))[-1] - np.unwrap(np.angle(z))[0]) / (2 * np.pi)
    power = np.abs(np.fft.fft(z * np.hanning(len(z)))) ** 2
    power[0] = 0.0
    k = int(np.argmax(power))
    near = [(k + offset) % len(power) for offset in (-1, 0, 1)]
    frequency = abs(np.fft.fftfreq(len(z), times[1] - times[0])[k])
    return float(turns), float(frequency), float(power[near].sum() / power.sum())


def coiling(compliance: float, relaxation_time: float = 0.15, duration: float = 12.0) -> Scene:
    changes = [
        ("simulation.duration", str(duration)),
        ("materials.rope.compliance", str(compliance)),
        ("materials.rope.relaxation_time", str(relaxation_time)),
    ]
    return Scene.load("coiling", changes)


def test_a_stiff_rope_coils_with_one_frequency() -> None:
    times, points = contact_azimuths(coiling(0.02), "figure-5-compliance-0.02")
    settled = times > times[0] + 0.2 * (times[-1] - times[0])
    turns, frequency, purity = turns_and_purity(times[settled], points[settled])
    report("coiling: turns", turns, "at least 5")
    report("coiling: frequency, Hz", frequency, "one dominant line")
    report("coiling: share of power in that line", purity, "over 0.5")
    assert turns >= 5.0
    assert purity > 0.5


@pytest.mark.parametrize("compliance", [0.1, 1.0])
def test_more_compliance_ends_the_coiling(compliance: float) -> None:
    """At α = 1 the contact stays under the nozzle; at 0.1 a rope still comes down onto a heap.

    The figure shows the rope of 0.1 between the others, so its swing is told and has no bar.
    """
    scene = coiling(compliance, duration=5.0)
    _, points = contact_azimuths(scene, f"figure-5-compliance-{compliance}")
    nozzle = scene.emitters[0]
    assert nozzle.shape == "disc"
    radius = _swing(points) / nozzle.radius
    report(f"coiling: swing of the contact at α = {compliance}", radius, "rope radii")
    if compliance >= 1.0:
        assert radius < 1.0
    else:
        assert len(points) > 10


@pytest.mark.parametrize("relaxation_time", [0.0, 0.5])
def test_row_of_relaxation_times(relaxation_time: float) -> None:
    """The lower row of the figure, without compliance: a picture, and that it stands."""
    scene = coiling(0.0, relaxation_time, duration=4.0)
    _, points = contact_azimuths(scene, f"figure-5-relaxation-{relaxation_time}")
    assert len(points) > 10


def _swing(points: np.ndarray) -> float:
    """RMS distance of the contact point from its mean, m; 0 when the rope never piles up."""
    if len(points) < 3:
        return 0.0
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))
