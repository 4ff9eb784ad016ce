"""The simulation as a user drives it: same bits, conservation laws, removal, recovery."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from viscoil.errors import DivergedError, ResumeError, ViscoilError
from viscoil.particles import ChannelKind
from viscoil.scene import Scene
from viscoil.simulation import Simulation

D = 0.02
PASTE = {"density": 1200.0, "viscosity": 50.0}
JELLY = {"density": 1000.0, "modulus": 2000.0, "relaxation_time": 0.3}
RIGID = {"density": 1000.0, "relaxation_time": 0.0, "compliance": 0.0}
FLOOR = {"shape": "plane", "contact": "sticky"}
PADDLE = {
    "shape": "box",
    "center": (-0.12, 0.05, 0.0),
    "size": (0.04, 0.1, 0.2),
    "contact": "friction",
    "friction": 0.3,
    "motion": (
        {"time": 0.0},
        {"time": 0.2, "translation": (0.1, 0.0, 0.0)},
    ),
}
NOZZLE = {
    "shape": "disc",
    "material": "paste",
    "center": (0.0, 0.3, 0.0),
    "direction": (0.0, -1.0, 0.0),
    "radius": 0.03,
    "speed": 1.0,
}

pytestmark = pytest.mark.usefixtures("compute")


def block(m: int, **values: Any) -> dict[str, Any]:
    return {
        "shape": "box",
        "material": "paste",
        "center": (0.0, 0.0, 0.0),
        "size": (m * D, m * D, m * D),
        **values,
    }


def scene(**tables: Any) -> Scene:
    simulation = {"spacing": D, "frames": 20, **tables.pop("simulation", {})}
    materials = {"paste": PASTE, "jelly": JELLY, "rigid": RIGID}
    return Scene.model_validate({"simulation": simulation, "materials": materials, **tables})


def weightless(*fluids: dict[str, Any], **simulation: Any) -> Scene:
    settings = {"gravity": (0.0, 0.0, 0.0), "time_step": 1.0 / 240.0, **simulation}
    return scene(fluids=fluids, simulation=settings)


def busy(**simulation: Any) -> Scene:
    """A jelly on the floor, a jet that falls onto it, a paddle, and a box that swallows strays."""
    return scene(
        fluids=[block(5, material="jelly", center=(0.0, 0.06, 0.0), velocity=(0.5, 0.0, 0.0))],
        emitters=[NOZZLE],
        colliders=[FLOOR, PADDLE],
        simulation={
            "kill_bounds": {"min": (-1.0, -1.0, -1.0), "max": (0.075, 1.0, 1.0)},
            **simulation,
        },
    )


def state(simulation: Simulation) -> dict[str, bytes]:
    found = {name: simulation.particles[name].tobytes() for name in simulation.particles}
    return {**found, "clock": json.dumps([simulation.time, simulation.steps]).encode()}


def by_id(simulation: Simulation, name: str) -> np.ndarray:
    values = np.array(simulation.particles[name])[np.argsort(simulation.particles["id"])]
    return values.astype(np.float64)


# The same bits


def test_the_same_scene_gives_the_same_bits() -> None:
    first, second = Simulation(busy()), Simulation(busy())
    for _ in range(8):
        first.step()
        second.step()
        assert state(first) == state(second)
    assert len(first.particles) > 150


def test_any_number_of_threads_gives_the_same_bits(tmp_path: Path) -> None:
    """In processes of their own, because the number of threads is one for a process."""
    path = tmp_path / "scene.toml"
    path.write_text(busy().to_toml())
    program = (
        "import sys, hashlib\n"
        "from viscoil import Scene, Simulation\n"
        "s = Simulation(Scene.load(sys.argv[1]), threads=int(sys.argv[2]))\n"
        "for _ in range(6): s.step()\n"
        "print(*(hashlib.sha256(s.particles[n].tobytes()).hexdigest() for n in s.particles))\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program, str(path), threads],
            env={"PYTHONPATH": ":".join(sys.path), "HOME": str(Path.home())},
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


# Conservation laws


def test_free_fall_does_not_deform() -> None:
    """Nothing acts between particles that fall alike: they keep their places to 1e-5 d.

    Each step rounds coordinates of up to 0.12 m to 4e-9 m = 2e-7 d; 24 of them as a random walk
    make 1e-6 d, and the largest of 512 three times that. And the block falls as a stone does:
    semi-implicit Euler is below ½ g t² by ½ g t Δt.
    """
    simulation = Simulation(scene(fluids=[block(8)], simulation={"time_step": 1.0 / 240.0}))
    start = by_id(simulation, "position")
    for _ in range(24):
        simulation.step()
    end = by_id(simulation, "position")
    moved = (end - end.mean(axis=0)) - (start - start.mean(axis=0))
    assert np.abs(moved).max() < 1e-5 * D
    t = 0.1
    fallen = -0.5 * 9.81 * t * (t + 1.0 / 240.0)
    assert (end - start).mean(axis=0)[1] == pytest.approx(fallen, rel=1e-4)
    np.testing.assert_allclose(by_id(simulation, "conformation")[:, 3:], 0.0, atol=1e-4)


def test_linear_momentum_of_an_isolated_blob() -> None:
    """All forces are pairwise opposite: momentum stays to 1e-5 of Σ m |u| while the blob squirms.

    n particles round their velocities to ε each and step: 6e-8 · 40 steps, if all erred alike.
    """
    simulation = Simulation(
        weightless(
            block(6, material="jelly", velocity=(0.5, 0.2, 0.0), angular_velocity=(2.0, 6.0, 1.0)),
            block(4, center=(0.12, 0.0, 0.0), velocity=(-1.0, 0.0, 0.3)),
        )
    )
    mass = np.where(by_id(simulation, "material") == 0, 1200.0, 1000.0)[:, None] * D**3
    before = (mass * by_id(simulation, "velocity")).sum(axis=0)
    size = np.linalg.norm(mass * by_id(simulation, "velocity"), axis=1).sum()
    for _ in range(40):
        figures = simulation.step()
    after = (mass * by_id(simulation, "velocity")).sum(axis=0)
    assert np.abs(after - before).max() < 1e-5 * size
    np.testing.assert_allclose(figures["linear_momentum"], after, atol=1e-6 * size)


@pytest.mark.parametrize("kind", ["rigid", "paste", "jelly"])
def test_a_spinning_block_keeps_its_spin(kind: str) -> None:
    """A free 8³ block at 10 rad/s for 0.1 s: angular momentum to 1e-5, and a rigid block stays a block.

    Corrections have no torque about x⁰, so Σ m x⁰ × (x − x⁰)/Δt is kept exactly, and it is the same
    as Σ m x × u at the end of the step. What is left is rounding, 6e-8 in each of 24 steps, and for
    the shape the residual: 1e-3 of the strain that a step would make, ½ (Δt ω)² = 9e-4, in each of
    24 steps over a radius of 5 d makes 1e-4 d.
    """
    simulation = Simulation(weightless(block(8, angular_velocity=(0.0, 0.0, 10.0), material=kind)))
    before = np.array(simulation._diagnosis.angular_momentum)
    start = by_id(simulation, "position")
    for _ in range(24):
        figures = simulation.step()
    after = np.array(figures["angular_momentum"])
    assert after[2] == pytest.approx(before[2], rel=1e-5)
    assert np.abs(after[:2]).max() < 1e-5 * before[2]
    if kind == "rigid":
        turned = by_id(simulation, "position")
        radius = np.linalg.norm(start[:, :2], axis=1)
        np.testing.assert_allclose(np.linalg.norm(turned[:, :2], axis=1), radius, atol=1e-3 * D)


# What a user can do


def test_channels_of_a_user_go_with_the_particles(tmp_path: Path) -> None:
    simulation = Simulation(busy())
    simulation.particles.add_channel("tag", ChannelKind("f32"))
    simulation.particles["tag"] = simulation.particles["id"] * 2.0
    for _ in range(6):
        simulation.step()
    old = simulation.particles["id"] < 100
    np.testing.assert_array_equal(
        simulation.particles["tag"][old], 2.0 * simulation.particles["id"][old]
    )
    assert "tag" in simulation.snapshot().channels
    simulation.save(tmp_path / "state.npz")
    again = Simulation(busy(), checkpoint=tmp_path / "state.npz")
    np.testing.assert_array_equal(again.particles["tag"], simulation.particles["tag"])


def test_materials_can_be_changed_on_the_way() -> None:
    simulation = Simulation(weightless(block(3)))
    simulation.set_material("paste", viscosity=5.0)
    assert simulation.material("paste").viscosity == 5.0
    assert simulation.material("paste").density == 1200.0
    simulation.set_material("jelly", relaxation_time=0.6)
    jelly = simulation.material("jelly")
    assert (jelly.modulus, jelly.relaxation_time, jelly.viscosity) == (2000.0, 0.6, 1200.0)
    simulation.set_material("jelly", viscosity=600.0)
    jelly = simulation.material("jelly")
    assert (jelly.modulus, jelly.relaxation_time) == (1000.0, 0.6)
    with pytest.raises(ViscoilError, match=r"no material 'custard'.*paste, jelly, rigid"):
        simulation.set_material("custard", viscosity=1.0)


def test_a_relaxation_time_makes_a_viscous_material_elastic() -> None:
    """Its viscosity stays, and with it how it flows in the end; and so it does with a modulus."""
    simulation = Simulation(weightless(block(3)))
    simulation.set_material("paste", relaxation_time=0.5)
    paste = simulation.material("paste")
    assert (paste.viscosity, paste.modulus, paste.relaxation_time) == (50.0, 100.0, 0.5)
    simulation.set_material("paste", viscosity=20.0, modulus=80.0)
    assert simulation.material("paste").relaxation_time == 0.25
    simulation.set_material("paste", viscosity=20.0, relaxation_time=0.0)
    assert simulation.material("paste").kind == "viscous"
    simulation.set_material("paste", modulus=40.0)
    assert simulation.material("paste").relaxation_time == 0.5
    simulation.set_material("rigid", relaxation_time=0.2)
    rigid = simulation.material("rigid")
    assert (rigid.kind, rigid.compliance, rigid.relaxation_time) == ("paper", 0.0, 0.2)
    simulation.set_material("jelly", compliance=0.1)
    jelly = simulation.material("jelly")
    assert (jelly.kind, jelly.relaxation_time) == ("paper", 0.3)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"viscosity": -1.0}, "materials.paste.viscosity is -1.0 but must be at least 0"),
        ({"relaxation_time": -0.1}, "materials.paste.relaxation_time is -0.1 but must be"),
        ({"modulus": float("nan")}, "materials.paste.modulus is nan but must be"),
        ({"density": 0.0}, "materials.paste.density is 0.0 but must be greater than 0"),
        ({"relaxation_time": float("inf")}, "needs modulus instead of viscosity"),
        ({"viscosty": 1.0}, 'materials.paste.viscosty is no known key: did you mean "viscosity"?'),
        ({"viscosity": "thick"}, 'materials.paste.viscosity is the text "thick" but must be'),
    ],
    ids=str,
)
def test_senseless_materials_are_refused(values: dict[str, Any], words: str) -> None:
    """In one sentence, and the material stays as it was."""
    simulation = Simulation(weightless(block(3)))
    before = simulation.material("paste")
    with pytest.raises(ViscoilError) as caught:
        simulation.set_material("paste", **values)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value) and "pydantic" not in str(caught.value)
    assert simulation.material("paste") == before


def test_a_changed_material_acts_from_the_next_step() -> None:
    """As if the scene had had it from the start, when changed before the first step."""
    changed = Simulation(weightless(block(5, angular_velocity=(0.0, 5.0, 0.0))))
    changed.set_material("paste", viscosity=1.0)
    values = weightless(block(5, angular_velocity=(0.0, 5.0, 0.0))).to_dict()
    values["materials"]["paste"]["viscosity"] = 1.0
    given = Simulation(Scene.model_validate(values))
    for _ in range(3):
        changed.step()
        given.step()
    assert state(changed) == state(given)


@pytest.mark.parametrize("dt", [0.0, -1e-3, float("nan"), float("inf")])
def test_senseless_steps_are_refused(dt: float) -> None:
    simulation = Simulation(weightless(block(3)))
    before = state(simulation)
    with pytest.raises(ViscoilError, match="time step must be positive"):
        simulation.step(dt)
    assert state(simulation) == before


def test_steps_of_a_user_keep_the_time() -> None:
    """Shorter than a frame, up to its end, and beyond it: the clock shows what was simulated."""
    simulation = Simulation(weightless(block(3)))
    simulation.step(0.01)
    assert (simulation.time, simulation.frame) == (0.01, 0)
    simulation.step(1.0 / 30.0 - 0.01)
    assert (simulation.time, simulation.frame) == (1.0 / 30.0, 1)
    simulation.step(0.1)
    assert simulation.time == pytest.approx(1.0 / 30.0 + 0.1)
    assert simulation.frame == 4
    simulation.next_frame()
    assert (simulation.time, simulation.frame) == (5.0 / 30.0, 5)


def test_frames_end_on_time() -> None:
    simulation = Simulation(scene(fluids=[block(3)], simulation={"frames": 4}))
    frames = list(simulation.frames())
    assert [frame.frame for frame in frames] == [0, 1, 2, 3, 4]
    assert [frame.time for frame in frames] == [k / 30.0 for k in range(5)]


# When it goes wrong, and when particles go


@pytest.mark.parametrize("poison", [np.nan, np.inf, 1e7])
def test_divergence_goes_back_to_the_last_frame(poison: float) -> None:
    """And from there the run can go on as if nothing had happened."""
    simulation, reference = Simulation(busy()), Simulation(busy())
    simulation.next_frame()
    reference.next_frame()
    good = state(reference)
    simulation.step()
    simulation.particles["velocity"][3] = poison
    with pytest.raises(DivergedError, match="diverged at step"):
        for _ in range(3):
            simulation.step()
    assert state(simulation) == good
    assert simulation.frame == 1
    simulation.step()
    reference.step()
    assert state(simulation) == state(reference)


def test_divergence_keeps_what_the_user_added_since() -> None:
    """Channels start again from zero, gravity and materials stay; and the run can go on."""
    simulation = Simulation(busy())
    simulation.next_frame()
    simulation.particles.add_channel("heat", ChannelKind("f32"))
    simulation.particles.add_channel("flow", ChannelKind("f32", 3, "m/s"))
    simulation.particles["heat"] = 7.0
    simulation.gravity = (0.0, -1.0, 0.0)
    simulation.set_material("jelly", modulus=500.0)
    simulation.particles["velocity"][3] = np.nan
    with pytest.raises(DivergedError):
        simulation.step()
    assert simulation.particles["heat"].shape == (len(simulation.particles),)
    assert not simulation.particles["heat"].any()
    assert simulation.particles.kinds["flow"] == ChannelKind("f32", 3, "m/s")
    assert simulation.gravity == (0.0, -1.0, 0.0)
    assert simulation.material("jelly").modulus == 500.0
    simulation.particles["heat"] = 2.0
    assert simulation.next_frame().channels["heat"].max() == 2.0


def test_divergence_does_not_bring_back_the_removed() -> None:
    """Who left with the last step of a good frame is gone also in the state that is restored."""
    box = {"min": (-1.0, -1.0, -1.0), "max": (0.035, 1.0, 1.0)}
    moving = weightless(block(4, velocity=(0.3, 0.0, 0.0)), kill_bounds=box, time_step=1.0 / 30.0)
    simulation = Simulation(moving)
    left = len(simulation.next_frame().channels["id"])
    assert left == 48
    simulation.particles["velocity"][0] = np.nan
    with pytest.raises(DivergedError):
        simulation.step()
    assert len(simulation.snapshot().channels["id"]) == left


def test_the_removed_do_not_show() -> None:
    """Neither in the snapshot after the step in which they left, nor in its figures."""
    box = {"min": (-1.0, -1.0, -1.0), "max": (0.1, 1.0, 1.0)}
    simulation = Simulation(weightless(block(4, velocity=(2.0, 0.0, 0.0)), kill_bounds=box))
    removed = 0
    for _ in range(24):
        figures = simulation.step()
        shown = simulation.snapshot().channels
        assert (shown["position"][:, 0] <= 0.1).all()
        assert figures["particles"] == len(shown["id"])
        assert {len(values) for values in shown.values()} == {len(shown["id"])}
        momentum = 1200.0 * D**3 * shown["velocity"][:, 0].sum(dtype=np.float64)
        assert figures["linear_momentum"][0] == pytest.approx(momentum, rel=1e-5, abs=1e-9)
        removed += len(simulation.particles) > len(shown["id"])
    assert removed >= 3
    assert figures["particles"] == 0
    assert figures["max_speed"] == 0.0


def test_whoever_leaves_the_box_is_removed() -> None:
    """A block that flies through a wall of the box loses those outside, and at last all."""
    box = {"min": (-1.0, -1.0, -1.0), "max": (0.1, 1.0, 1.0)}
    simulation = Simulation(weightless(block(4, velocity=(2.0, 0.0, 0.0)), kill_bounds=box))
    counts = []
    for _ in range(24):
        inside = set(simulation.particles["id"][simulation.particles["position"][:, 0] <= 0.1])
        simulation.step()
        assert set(simulation.particles["id"].tolist()) == inside
        counts.append(len(simulation.particles))
    assert counts[0] == 64
    assert 0 < counts[13] < 64
    assert counts[-1] == 0
    assert simulation.snapshot().channels["position"].shape == (0, 3)


def test_the_old_are_removed() -> None:
    simulation = Simulation(
        scene(emitters=[NOZZLE], simulation={"max_age": 0.05, "gravity": (0.0, 0.0, 0.0)})
    )
    for _ in range(15):
        simulation.step()
        age = simulation.time - simulation.particles["birth"].astype(np.float64)
        # marked after a step, dropped by the sort in the next one
        assert age.max(initial=0.0) <= 0.05 + 2.0 * simulation.scene.simulation.max_time_step + 1e-6
    assert simulation.particles.next_id > len(simulation.particles) > 0


def test_an_empty_scene_runs() -> None:
    simulation = Simulation(scene(emitters=[NOZZLE | {"start": 0.05}]))
    assert simulation.step()["particles"] == 0
    while simulation.time < 0.07:
        simulation.step()
    assert len(simulation.particles) > 0


def test_the_most_particles() -> None:
    simulation = Simulation(scene(emitters=[NOZZLE], simulation={"max_particles": 60}))
    for _ in range(12):
        simulation.step()
        assert len(simulation.particles) <= 60


@pytest.mark.parametrize(
    "settings",
    [
        {"conformation_update": "implicit"},
        {"velocity_solver": "jacobi"},
        {"gradients": "plain"},
        {"corotation": False},
        {"projection": "position"},
        {"stiffness": "prototype"},
        {"smoothing": "wendland_c2"},
        {"smoothing": "poly6_spiky"},
        {"support": 2.5},
    ],
    ids=lambda s: "-".join(map(str, next(iter(s.items())))),
)
def test_every_switch_runs(settings: dict[str, Any]) -> None:
    """No option that nobody tests: a jelly falls onto the floor and stays whole and slow."""
    simulation = Simulation(
        scene(
            fluids=[block(4, material="jelly", center=(0.0, 0.05, 0.0))],
            colliders=[FLOOR],
            solver=settings,
        )
    )
    for _ in range(6):
        figures = simulation.step()
    assert np.isfinite(simulation.particles["conformation"]).all()
    assert figures["max_speed"] < 1.0
    assert simulation.particles["position"][:, 1].min() > 0.4 * D
