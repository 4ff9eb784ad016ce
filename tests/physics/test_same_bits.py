"""The same scene gives the same bits: again, on other threads, beside others, and resumed."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from simulation_rigs import block, busy, state, weightless
from toy_solver import TOY

from viscoil.core.errors import ResumeError
from viscoil.scene import Scene
from viscoil.simulation.simulation import Simulation

pytestmark = pytest.mark.usefixtures("compute")


def test_the_same_scene_gives_the_same_bits(method: str) -> None:
    first, second = Simulation(busy(method)), Simulation(busy(method))
    for _ in range(8):
        first.step()
        second.step()
        assert state(first) == state(second)
    assert len(first.particles) > 150


def test_any_number_of_threads_gives_the_same_bits(method: str, tmp_path: Path) -> None:
    """In processes of their own, because the number of threads is one for a process."""
    path = tmp_path / "scene.toml"
    path.write_text(busy(method).to_toml())
    program = (
        "import sys, hashlib\n"
        "from viscoil import Scene, Simulation\n"
        f"{f'import {TOY}' if method == TOY else ''}\n"
        "s = Simulation(Scene.load(sys.argv[1]), threads=int(sys.argv[2]))\n"
        "for _ in range(6): s.step()\n"
        "print(*(hashlib.sha256(s.particles[n].tobytes()).hexdigest() for n in s.particles))\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program, str(path), threads],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()[-1]
        for threads in ("1", "2")
    ]
    assert runs[0] == runs[1]


def test_simulations_side_by_side_do_not_disturb_each_other() -> None:
    scenes = [busy(), weightless(block(6, angular_velocity=(0.0, 5.0, 0.0)))]
    alone = []
    for each in scenes:
        simulation = Simulation(each)
        for _ in range(5):
            simulation.step()
        alone.append(state(simulation))
    together = [Simulation(each) for each in scenes]
    for _ in range(5):
        for simulation in together:
            simulation.step()
    assert [state(simulation) for simulation in together] == alone


@pytest.mark.parametrize("before", [1, 9, 16])
def test_a_resumed_run_gives_the_same_bits(tmp_path: Path, before: int) -> None:
    """In the middle of frames, with an emitter, a moving collider and particles about to be removed."""
    whole = Simulation(busy())
    for _ in range(before):
        whole.step()
    whole.save(tmp_path / "state.npz")
    resumed = Simulation(busy(), checkpoint=tmp_path / "state.npz")
    assert state(resumed) == state(whole)
    for _ in range(14):
        figures, again = whole.step(), resumed.step()
        assert state(resumed) == state(whole)
        for name in figures.keys() - {"milliseconds"}:
            assert figures[name] == again[name], name
    assert whole.particles.next_id > len(whole.particles)  # some were removed


def test_a_resumed_run_keeps_what_the_user_changed(tmp_path: Path) -> None:
    """Gravity and materials as they were, also infinite numbers and how a material looks."""
    whole = Simulation(busy())
    whole.gravity = (0.3, -2.0, 0.1)
    whole.set_material("jelly", modulus=700.0 / 3.0)
    whole.set_material("paste", modulus=900.0, relaxation_time=float("inf"), transmission=0.1)
    for _ in range(3):
        whole.step()
    whole.save(tmp_path / "state.npz")
    resumed = Simulation(busy(), checkpoint=tmp_path / "state.npz")
    assert resumed.gravity == whole.gravity
    for name in ("paste", "jelly", "rigid"):
        assert resumed.material(name) == whole.material(name)
    for _ in range(4):
        figures, again = whole.step(), resumed.step()
        assert state(resumed) == state(whole)
        assert figures["kinetic_energy"] == again["kinetic_energy"]
    assert resumed.snapshot().materials == whole.snapshot().materials


def test_a_resumed_run_may_take_what_the_scene_says_now(tmp_path: Path) -> None:
    """Another scene changes gravity and a material from the checkpoint on, and nothing else."""
    whole = Simulation(busy())
    for _ in range(3):
        whole.step()
    whole.save(tmp_path / "state.npz")
    data = busy().to_dict()
    data["simulation"]["gravity"] = (0.0, 3.0, 0.0)
    data["materials"]["paste"]["density"] = 1234.0
    other = Scene.model_validate(data)
    resumed = Simulation(other, checkpoint=tmp_path / "state.npz", keep_settings=False)
    assert resumed.gravity == (0.0, 3.0, 0.0)
    assert resumed.material("paste").density == 1234.0
    assert state(resumed) == state(whole)
    kept = Simulation(other, checkpoint=tmp_path / "state.npz")
    assert (kept.gravity, kept.material("paste")) == (whole.gravity, whole.material("paste"))


def test_a_checkpoint_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.npz"
    np.savez(path, position=np.zeros((2, 3)))
    with pytest.raises(ResumeError, match="not a checkpoint"):
        Simulation(busy(), checkpoint=path)
