"""The solver that CONTRIBUTING prints, saved and registered as it says, through the whole program.

What it conserves, and that its bits are the same for any number of threads, is tested beside the others
in `tests/physics`.
"""

import dataclasses
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from bars import below, near
from simulation_rigs import D, block, by_id, weightless

from viscoil.cli import main
from viscoil.core.checkpoint import load_checkpoint, save_checkpoint
from viscoil.core.errors import DivergedError, ResumeError, SceneError
from viscoil.runs.run import Run
from viscoil.scene import Scene
from viscoil.scene.channels import OF_SOLVER
from viscoil.scene.solvers import registry as settings_registry
from viscoil.simulation.simulation import Simulation
from viscoil.solvers import registry

SCENE = f"""
[simulation]
spacing = {D}
frames = 4
[solver]
method = "wcsph"
sound_speed = 15.0
[materials.water]
density = 1000.0
viscosity = 0.0
[[fluids]]
shape = "box"
material = "water"
center = [0.0, 0.08, 0.0]
size = [0.12, 0.16, 0.12]
[[colliders]]
shape = "box"
container = true
open = ["+y"]
contact = "slip"
center = [0.0, 0.5, 0.0]
size = [0.16, 1.0, 0.12]
[[outputs]]
type = "frames"
channels = ["position", "velocity", "id", "material", "filling"]
"""

pytestmark = pytest.mark.usefixtures("compute")


def told(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """What a command prints, which has to succeed."""
    capsys.readouterr()
    assert main([str(word) for word in words]) == 0
    return capsys.readouterr().out


def test_it_runs_resumes_plots_and_exports(
    wcsph: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `viscoil run` does, resumed half way to the same bits as without a stop."""
    path = tmp_path / "tank.toml"
    path.write_text(SCENE)
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    said = told(capsys, "run", path, "--out", whole)
    assert re.search(r"frame 4/4  \d+ particles  overfilling \d", said)
    told(capsys, "run", path, "--out", parts, "--until", "2")
    told(capsys, "run", path, "--out", parts, "--resume", "--until", "4")
    for name in ("position", "velocity", "filling"):
        a, b = (Run(folder).snapshot(4).channels[name] for folder in (whole, parts))
        assert a.tobytes() == b.tobytes()
    assert "overfilling" in told(capsys, "plot", whole)
    assert (whole / "plot.png").is_file()
    told(capsys, "export", whole, "--to", "ply", "--out", tmp_path / "ply")
    assert len(list((tmp_path / "ply").glob("*.ply"))) == 5
    assert "overfilling" in (whole / "stats.jsonl").read_text()


def test_a_package_offers_it_by_an_entry_point(
    wcsph: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is loaded when a scene names it, and only then."""
    monkeypatch.delitem(settings_registry._models, "wcsph")
    with pytest.raises(SceneError, match="is no known solver"):
        Scene.from_toml(SCENE)

    class Offer:
        def load(self) -> None:
            registry.register(wcsph.WCSPH)

    def entry_points(group: str, name: str) -> list[Offer]:
        return [Offer()] if (group, name) == ("viscoil.solvers", "wcsph") else []

    monkeypatch.setattr(settings_registry, "entry_points", entry_points)
    assert Scene.from_toml(SCENE).solver.method == "wcsph"


def test_its_settings_are_checked(wcsph: ModuleType) -> None:
    with pytest.raises(
        SceneError, match=r'solver\.sound_sped is no known key: did you mean "sound_'
    ):
        Scene.from_toml(SCENE.replace("sound_speed", "sound_sped"))
    with pytest.raises(SceneError, match=r'"wcshp"\) is no known solver: did you mean "wcsph"'):
        Scene.from_toml(SCENE.replace('"wcsph"', '"wcshp"'))
    with pytest.raises(SceneError, match="corotation does not go with this method but with dcpbd"):
        Scene.from_toml(SCENE.replace("sound_speed = 15.0", "corotation = true"))


@pytest.mark.physics
def test_water_comes_to_rest_at_its_height(wcsph: ModuleType) -> None:
    """A column in a tank: its centre half way up, by the speed of sound to g H/c² = 0.7 % too low.

    Damped for 0.4 s; a particle's thickness is 12 % of the height, and layers are a tenth of that.
    """
    data = Scene.from_toml(SCENE.replace("0.16, 1.0", "0.12, 1.0")).to_dict()
    simulation = Simulation(Scene.model_validate(data))
    while simulation.time < 0.4:
        figures = simulation.step()
    height = 2.0 * by_id(simulation, "position")[:, 1].mean()
    near(height, 0.16, "height of the column, m", rel=0.03)
    below(figures["max_speed"], 0.3 * np.sqrt(9.81 * 0.16), "speed, m/s")


@pytest.mark.physics
def test_a_crowded_start_is_relaxed_in_steps_that_it_can_take(
    wcsph: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outer layers start 0.3 d from the walls of a tank that is too narrow by 0.4 d.

    30 rounds of 0.1 √d s, in steps no longer than sound allows, take half of the crowding away.
    """
    text = SCENE.replace("[0.16, 1.0, 0.12]", f"[{5.6 * D}, 1.0, {5.6 * D}]")
    longest = 0.25 * 2.0 * D / 15.0
    crowded = Simulation(Scene.from_toml(text)).step(longest)["overfilling"]
    taken: list[float] = []
    step = wcsph.WCSPH.step

    def noted(solver: Any, state: Any, dt: float) -> Any:
        taken.append(dt / solver.longest_step(state))
        return step(solver, state, dt)

    monkeypatch.setattr(wcsph.WCSPH, "step", noted)
    simulation = Simulation(Scene.from_toml(text.replace("[[fluids]]", "[[fluids]]\nrelax = true")))
    assert min(taken) > 0.5 and max(taken) < 1.0 + 1e-6
    assert sum(taken) * longest == pytest.approx(30 * 0.1 * np.sqrt(D))
    assert not np.any(simulation.particles["velocity"])
    assert np.abs(by_id(simulation, "position")[:, [0, 2]]).max() < 2.8 * D
    below(simulation.step(longest)["overfilling"], 0.5 * crowded, "crowding after relaxation")


def test_a_fixed_step_that_is_too_long_for_it_is_noted(wcsph: ModuleType) -> None:
    """h/4 at the speed of sound, 15 m/s, is 0.667 ms."""
    text = SCENE.replace("frames = 4", "frames = 4\ntime_step = {}")
    (note,) = Simulation(Scene.from_toml(text.format(1e-3))).notes
    assert "(0.001 s) is longer than the solver wcsph allows (0.000667 s)" in note
    assert Simulation(Scene.from_toml(text.format(5e-4))).notes == []


def test_checkpoints_of_other_solvers_are_refused(
    wcsph: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Either way, and by --force too."""
    own = Scene.from_toml(SCENE)
    data = {**own.to_dict(), "solver": {"method": "dcpbd"}, "outputs": []}
    other = Scene.model_validate(data)
    for scene, refusing in ((own, other), (other, own)):
        Simulation(scene).save(tmp_path / "state.npz")
        with pytest.raises(ResumeError, match=f"written by the solver {scene.solver.method}, and"):
            Simulation(refusing, checkpoint=tmp_path / "state.npz")
    (tmp_path / "own.toml").write_text(SCENE)
    (tmp_path / "other.toml").write_text(other.to_toml())
    told(capsys, "run", tmp_path / "own.toml", "--out", tmp_path / "run", "--until", 1)
    capsys.readouterr()
    again = ["run", tmp_path / "other.toml", "--out", tmp_path / "run", "--resume", "--force"]
    assert main([str(word) for word in again]) != 0
    assert "it was written by another solver (wcsph)" in capsys.readouterr().err


def test_arrays_that_a_solver_does_not_know_are_refused(tmp_path: Path) -> None:
    """As of another version of a package, here of one that had something to remember."""
    simulation = Simulation(weightless(block(2)))
    simulation.save(tmp_path / "state.npz")
    saved = load_checkpoint(tmp_path / "state.npz")
    arrays = {**saved.arrays, f"{OF_SOLVER}history": np.zeros(3)}
    save_checkpoint(tmp_path / "state.npz", arrays, saved.metadata)
    with pytest.raises(ResumeError, match="holds history, which the solver dcpbd does not know"):
        Simulation(simulation.scene, checkpoint=tmp_path / "state.npz")


def test_figures_that_mean_trouble_stop_it(
    wcsph: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its last good state stays."""
    strict = dataclasses.replace(wcsph.WCSPH.figures[0], most=-1.0)
    simulation = Simulation(Scene.from_toml(SCENE))
    monkeypatch.setattr(wcsph.WCSPH, "figures", (strict,))
    with pytest.raises(DivergedError, match=r"step 1.*overfilling is"):
        simulation.step()
    assert simulation.steps == 0 and simulation.advice == ""
