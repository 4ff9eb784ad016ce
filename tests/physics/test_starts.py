"""Starts that `make test-margins` moves at random, and how it measures margins."""

import json
from pathlib import Path

import numpy as np
import pytest
from bars import MARGINS, above, below, near, perturbed
from rigs import SPACING, Rig, lattice

from viscoil.particles.store import Particles

pytestmark = pytest.mark.usefixtures("compute")

PLACES = lattice((4, 4, 4), center=(0.3, 0.0, 0.0))
# 1e-6 spacings, or the last bit of coordinates below 0.5 m if that is more, and once rounded
FARTHEST = 1.5 * max(1e-6 * SPACING, 2.0**-25)


def moved(rig: Rig) -> float:
    """How far the particle that was moved most is from its place, m."""
    places = PLACES.astype(np.float32).astype(np.float64)
    return float(np.abs(rig.particles["position"] - places).max())


@pytest.mark.physics
def test_particles_are_moved_if_and_only_if_a_seed_says_so(start: int) -> None:
    """Otherwise six starts would be one, and every margin would look alike."""
    assert 0.0 < moved(Rig(PLACES)) < FARTHEST if start else moved(Rig(PLACES)) == 0.0


def test_every_seed_is_another_start(monkeypatch: pytest.MonkeyPatch) -> None:
    append, found = Particles.append, set()
    for seed in (1, 2, 3):
        monkeypatch.setattr(Particles, "append", perturbed(append, seed))
        rig = Rig(PLACES)
        assert 0.0 < moved(rig) < FARTHEST
        found.add(np.array(rig.particles["position"]).tobytes())
    assert len(found) == 3


def test_margins_are_shares_of_the_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARGINS, str(tmp_path / "margins.jsonl"))
    below(3.0, 4.0, "upper")
    above(5.0, 4.0, "lower")
    near([1.0, 2.0, 3.0], [1.0, 2.0, 3.15], "both", rel=0.01, abs=0.2)
    for fail in (
        lambda: below(4.0, 4.0, "upper"),
        lambda: above(float("nan"), 4.0, "lower"),
        lambda: near([1.0, np.nan], 1.0, "both", abs=0.1),
        lambda: near([1.0, 1.2], 1.0, "both", rel=0.1),
    ):
        with pytest.raises(AssertionError, match=r"upper|lower|both"):
            fail()
    lines = [json.loads(line) for line in (tmp_path / "margins.jsonl").read_text().splitlines()]
    np.testing.assert_allclose([line["margin"] for line in lines[:3]], 0.25)
    assert lines[0]["test"].endswith("::test_margins_are_shares_of_the_bar")
    assert lines[4]["margin"] is None
