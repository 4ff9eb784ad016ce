# mypy: disable-error-code="arg-type,call-arg"
"""Scenes and runs from Python: models, run folders with callbacks, statistics as arrays, short texts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentences import is_sentence
from simulation_rigs import FLOOR, NOZZLE, block, scene

import viscoil
from viscoil.core.errors import RunError, SceneError
from viscoil.running.runner import run
from viscoil.runs.run import Run
from viscoil.runs.statistics import read_statistics
from viscoil.scene import (
    DcpbdSettings,
    Keyframe,
    Material,
    PlaneCollider,
    Scene,
    SimulationSettings,
    SphereFluid,
)
from viscoil.simulation.simulation import Simulation

# Statistics


def test_statistics_are_arrays(tmp_path: Path) -> None:
    """Missing numbers are NaN, whole ones stay whole, vectors have rows, nested keys have dots."""
    records: list[dict[str, Any]] = [
        {"step": 1, "a": 0.5, "v": [1.0, 2.0, 3.0], "part": {"x": 1.0}, "who": "me", "w": None},
        {"step": 2, "a": None, "v": None, "part": {"x": 2.0, "y": 5}, "on": [{"f": [1, 2]}]},
        {
            "step": 3,
            "v": [1, None, 3],
            "count": 4,
            "w": [7.0, 8.0],
            "never": None,
            "part": {},
            "on": [{"f": [3, 4]}],
        },
    ]
    path = tmp_path / "stats.jsonl"
    path.write_text("".join(json.dumps(r) + "\n" for r in records) + '{"step": 4, "a"')
    found = read_statistics(path)
    nan = np.nan
    assert found.steps == 3
    expected = {
        "step": [1, 2, 3],
        "a": [0.5, nan, nan],
        "v": [[1.0, 2.0, 3.0], [nan] * 3, [1.0, nan, 3.0]],
        "part.x": [1.0, 2.0, nan],
        "part.y": [nan, 5.0, nan],
        "count": [nan, nan, 4.0],
        "w": [[nan, nan], [nan, nan], [7.0, 8.0]],
        "never": [nan] * 3,
        "on.0.f": [[nan, nan], [1.0, 2.0], [3.0, 4.0]],
    }
    assert set(found) == set(expected)
    for key, values in expected.items():
        np.testing.assert_array_equal(found[key], values, err_msg=key)
    assert found["step"].dtype == np.int64 and found["part.y"].dtype == np.float64
    assert list(read_statistics(path, ["part", "a"])) == ["a", "part.x", "part.y"]
    with pytest.raises(RunError, match="'stp' is no known figure") as caught:
        found["stp"]
    assert is_sentence(caught.value)
    assert found.get("stp") is None and "stp" not in found
    with pytest.raises(RunError, match="'stp' is no known figure"):
        read_statistics(path, ["stp"])
    with pytest.raises(RunError, match="has no statistics"):
        read_statistics(tmp_path / "other" / "stats.jsonl")


# Starting Quadrants lets its thread flush subnormal numbers to zero.
NUMBERS = st.one_of(st.integers(-9, 9), st.floats(-1, 1, allow_subnormal=False))


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.dictionaries(
            st.sampled_from("ab"), st.one_of(st.none(), NUMBERS, st.lists(st.integers(0, 9)))
        ),
        min_size=1,
        max_size=8,
    )
)
def test_every_column_has_a_row_for_every_step(
    rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("run") / "stats.jsonl"
    lines = [json.dumps({"step": i, **row}) + "\n" for i, row in enumerate(rows)]
    path.write_text("".join(lines))
    found = read_statistics(path)
    for key, column in found.items():
        assert len(column) == len(rows)
        for row, value in zip(rows, column, strict=True):
            given_value = row.get(key)
            if isinstance(given_value, int | float) and column.ndim == 1 and key != "step":
                assert value == given_value


# Runs from a script


def dyed() -> Scene:
    return scene(
        fluids=[block(3, center=(0.0, 0.1, 0.0))],
        emitters=[NOZZLE],
        colliders=[FLOOR],
        outputs=[{"type": "frames"}],
        simulation={"frames": 2, "time_step": 1 / 60, "name": "dyed"},
    )


def prepared(simulation: Simulation) -> None:
    """Dye that a force feels, so that a run shows whether it is there."""
    simulation.add_channel("dye")
    if simulation.steps == 0:
        simulation.set_channel("dye", np.linspace(0.0, 1.0, len(simulation.ids)))
    simulation.add_force(lambda p: 5.0 * p["dye"][:, None] * (1.0, 0.0, 0.0))
    simulation.on_step(lambda f: f.update(dye=float(simulation.channel("dye").sum())))


def test_a_run_from_a_script_resumes_to_the_same_bits(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    summary = viscoil.run(dyed(), whole, quiet=True, prepare=prepared)
    run(dyed(), parts, frames=1, quiet=True, prepare=prepared)
    again = run(dyed(), parts, frames=2, resume=True, quiet=True, prepare=prepared)
    assert (summary.frames, summary.steps) == (again.frames, again.steps) == (2, 4)
    for frame in (0, 1, 2):
        first, second = (Run(folder).snapshot(frame).channels for folder in (whole, parts))
        for name in first:
            assert first[name].tobytes() == second[name].tobytes(), name
    found = Run(parts).statistics()
    assert found["step"].tolist() == [1, 2, 3, 4]
    np.testing.assert_array_equal(found["dye"], Run(whole).statistics(["dye"])["dye"])
    assert found["dye"].min() > 0.0
    assert found["linear_momentum"].shape == (4, 3)
    assert (found["milliseconds.python forces"] > 0.0).all()
    assert repr(Run(parts)) == f"<Run {str(parts)!r} of 'dyed': finished, 3 frames>"
    assert repr(summary).startswith(f"<Summary of {whole}: 2 frames, 4 steps, ")


def test_a_run_by_the_name_of_its_scene(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="did you mean"):
        viscoil.run("hony", tmp_path / "out")
    assert not (tmp_path / "out").exists()


# Scenes in Python, and what things look like


DROP = {"shape": "sphere", "material": "honey", "center": (0.0, 0.1, 0.0), "radius": 0.05}
SETTINGS = {"spacing": 0.02, "frames": 3}


def test_scenes_of_models_and_of_tables_are_the_same() -> None:
    drop = SphereFluid(material="honey", center=(0.0, 0.1, 0.0), radius=0.05, spacing=0.04)
    for scale in (1.0, 8.0):
        models = Scene(
            simulation=SimulationSettings(spacing=0.02, frames=3, scale=scale),
            fluids=(drop,),
            colliders=(PlaneCollider(),),
        )
        tables = Scene(
            simulation={**SETTINGS, "scale": scale},
            fluids=[{**DROP, "spacing": 0.04}],
            colliders=[{"shape": "plane"}],
        )
        assert models == tables == Scene(**models.to_dict())
        assert models.simulation.spacing == pytest.approx(0.02 / scale ** (1 / 3))
        assert models.fluids[0].spacing == pytest.approx(0.04 / scale ** (1 / 3))


@pytest.mark.parametrize(
    ("make", "problems"),
    [
        (
            lambda: Scene(simulation=SETTINGS, fluids=[{**DROP, "radus": 1.0, "material": "hony"}]),
            [
                'scene: fluids.0.radus is no known key: did you mean "radius"?',
                'scene: fluids.0.material ("hony") is no known material: did you mean "honey"?',
            ],
        ),
        (
            lambda: Scene(fluids=[DROP]),
            ["scene: simulation is missing: add it (resolution, duration, time step and domain)"],
        ),
        (
            lambda: SphereFluid(**{**DROP, "radius": -1.0}),
            ["SphereFluid.radius is -1.0 but must be greater than 0 (radius, m)"],
        ),
        (
            lambda: Material(dens=1.0, viscosity=1.0),
            ['Material.dens is no known key: did you mean "density"?'],
        ),
        (
            lambda: DcpbdSettings(gradients="none"),
            ['DcpbdSettings.gradients ("none") is no known choice: use one of corrected, plain'],
        ),
        (
            lambda: Keyframe(tim=1.0, time="soon"),
            [
                'Keyframe.time is the text "soon" but must be a number',
                'Keyframe.tim is no known key: did you mean "time"?',
            ],
        ),
        (
            lambda: SimulationSettings(spacing=0.1),
            ["SimulationSettings needs either duration or frames: add one of them"],
        ),
    ],
)
def test_mistakes_in_scenes_that_code_makes(
    make: Callable[[], object], problems: list[str]
) -> None:
    with pytest.raises(SceneError) as caught:
        make()
    assert list(caught.value.problems) == problems


def test_short_texts() -> None:
    """What a reader of a log or a notebook sees."""
    made = Scene(simulation=SETTINGS, fluids=[DROP], colliders=[{"shape": "plane"}] * 2)
    text = "<Scene 'untitled': 1 fluid, 2 colliders, spacing 0.02 m, 3 frames>"
    assert repr(made) == str(made) == text
    jelly = Material(density=1000.0, modulus=20.0, relaxation_time=0.5)
    text = "Material(density=1000.0, viscosity=10.0, modulus=20.0, relaxation_time=0.5)"
    assert repr(jelly) == str(jelly) == text
    assert eval(text) == jelly
    simulation = Simulation(made)
    n = len(simulation.ids)
    assert repr(simulation) == f"<Simulation 'untitled': frame 0 of 3, t = 0 s, {n} particles>"
    assert repr(simulation.particles).startswith(f"<Particles: {n} of position, velocity, id,")
    view = repr(simulation.particles["velocity"])
    assert view.startswith(f"<view of 'velocity', float32 ({n}, 3)>") and len(view) < 300
