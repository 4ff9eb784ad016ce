"""Rigid bodies: mass, free motion, contact, and what they exchange with fluid."""

import math
from typing import Any

import numpy as np
import pytest
from bars import above, below, near
from rigs import SPACING, Rig, lattice, numbers

from viscoil import Scene, Simulation, ViscoilError
from viscoil.bodies import mass_properties
from viscoil.bodies.rigid_bodies import RigidBodies
from viscoil.colliders import ColliderSet, distance
from viscoil.core.compute import view, write
from viscoil.geometry import quaternions
from viscoil.scene import (
    BoxCollider,
    CapsuleCollider,
    Collider,
    CylinderCollider,
    PlaneCollider,
    Rotation,
    SphereCollider,
)
from viscoil.scene.writer import to_toml
from viscoil.walls import body_velocities
from viscoil.walls.arrays import Mode

pytestmark = pytest.mark.usefixtures("compute")

G = (0.0, -9.81, 0.0)
DT = 1.0 / 240.0
BODY: dict[str, Any] = {"dynamic": True, "density": 600.0}
SHAPES: list[Collider] = [
    SphereCollider(center=(0.1, 0.0, 0.2), radius=0.3, **BODY),
    BoxCollider(center=(0.0, 0.1, 0.0), size=(0.2, 0.4, 0.7), **BODY),
    CylinderCollider(center=(0.0, 0.0, 0.0), radius=0.2, height=0.5, **BODY),
    CapsuleCollider(start=(0.0, 0.0, 0.0), end=(0.0, 0.4, 0.0), radius=0.15, **BODY),
]


def bodies(*colliders: Collider) -> RigidBodies:
    return RigidBodies(ColliderSet(colliders), SPACING)


def run(b: RigidBodies, duration: float, gravity: tuple[float, float, float] = G) -> None:
    """Without fluid."""
    for step in range(round(duration / DT)):
        b.begin(step * DT, DT, gravity)
        b.finish(DT)


@pytest.mark.parametrize("spec", SHAPES, ids=lambda spec: spec.shape)
def test_mass_and_inertia_are_those_of_a_sum_over_points(spec: Collider) -> None:
    """One random point in each cell: some 5 000 cells at the surface err by half a cell, at random.

    That is 35 of some 30 000 cells, about 0.1 %.
    """
    p = mass_properties(spec)
    side = 80
    cells = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
    x = ((cells + np.random.default_rng(0).uniform(size=cells.shape)) / side - 0.5) * 0.8
    center = np.array(spec.center if spec.shape != "capsule" else (0.0, 0.2, 0.0))  # type: ignore[union-attr]
    x = x[distance(spec, x + center, 0.0) < 0.0]
    m = 600.0 * (0.8 / side) ** 3
    inertia = m * ((x**2).sum() * np.eye(3) - x.T @ x)
    assert p.mass == pytest.approx(m * len(x), rel=0.005)
    np.testing.assert_allclose(p.inertia, inertia, atol=0.005 * inertia.max())


def test_a_tumbling_box_keeps_its_spin_and_energy() -> None:
    """About its middle axis, which is unstable: it turns over, and over again.

    Moments of inertia are as 13 : 10 : 5, so a tilt of 0.01 grows at ω √(3 · 5/(13 · 5)) = 4.8 /s and
    is of order 1 after ln(100)/4.8 = 1 s. The step is of second order: ωΔt = 0.04 rad.
    """
    b = bodies(
        BoxCollider(center=(0, 0, 0), size=(0.1, 0.2, 0.3), angular_velocity=(0.1, 10, 0.1), **BODY)
    )
    state = b.states[0]
    spin, energy = state.spin.copy(), 0.5 * state.spin @ state.angular_velocity
    along = []
    for step in range(round(2.0 / DT)):
        b.begin(step * DT, DT, (0.0, 0.0, 0.0))
        b.finish(DT)
        axis = quaternions.rotate(state.orientation, np.array([0.0, 1.0, 0.0]))
        along.append(float(axis @ spin / np.linalg.norm(spin)))
    assert min(along[: round(0.4 / DT)]) > 0.9  # it takes its time,
    assert min(along) < -0.9  # and lies upside down in between
    np.testing.assert_allclose(state.spin, spin, atol=1e-12 * float(np.linalg.norm(spin)))
    assert 0.5 * state.spin @ state.angular_velocity == pytest.approx(energy, rel=1e-3)


@pytest.mark.parametrize(
    "spec",
    [
        SphereCollider(center=(0, 0.1, 0), radius=0.1, **BODY),
        BoxCollider(center=(0, 0.1, 0), size=(0.3, 0.2, 0.1), **BODY),
        CylinderCollider(center=(0, 0.1, 0), radius=0.1, height=0.2, **BODY),
    ],
    ids=lambda spec: spec.shape,
)
def test_what_lies_on_the_ground_stays(spec: Collider) -> None:
    b = bodies(PlaneCollider(), spec)
    run(b, 0.5)
    np.testing.assert_allclose(b.states[1].position, (0, 0.1, 0), atol=1e-6)
    np.testing.assert_allclose(b.states[1].velocity, 0.0, atol=1e-6)


def test_a_stack_of_boxes_stands() -> None:
    """Corners lie flush, where distances have no gradient. Overlap is held at 2 % of the spacing."""
    stack = [BoxCollider(center=(0, 0.05 + 0.1 * k, 0), size=(0.1,) * 3, **BODY) for k in range(3)]
    b = bodies(PlaneCollider(), *stack)
    run(b, 0.5)
    for k in range(3):
        np.testing.assert_allclose(b.states[1 + k].position, stack[k].center, atol=1e-3)


def test_a_box_slides_as_friction_says() -> None:
    """It stops after v²/(2 μ g), up to half the way of a step."""
    rough: dict[str, Any] = {"contact": "friction", "friction": 0.3}
    box = BoxCollider(
        center=(0, 0.05, 0), size=(0.2, 0.1, 0.2), velocity=(1, 0, 0), **BODY, **rough
    )
    b = bodies(PlaneCollider(**rough), box)
    run(b, 0.6)
    assert b.states[1].position[0] == pytest.approx(1 / (2 * 0.3 * 9.81), abs=1.0 * DT)
    assert np.linalg.norm(b.states[1].velocity) < 1e-9


@pytest.mark.parametrize(("shape", "share"), [("sphere", 5 / 7), ("cylinder", 2 / 3)])
def test_round_things_come_to_roll(shape: str, share: float) -> None:
    """Sliding friction turns v into 1/(1 + I/(m r²)) v, whatever its coefficient."""
    rough: dict[str, Any] = {"contact": "friction", "friction": 0.3, "velocity": (1, 0, 0), **BODY}
    sphere = SphereCollider(center=(0, 0.05, 0), radius=0.05, **rough)
    lying = Rotation(axis=(1, 0, 0), angle=math.pi / 2)
    drum = CylinderCollider(center=(0, 0.05, 0), radius=0.05, height=0.2, rotation=lying, **rough)
    b = bodies(PlaneCollider(), sphere if shape == "sphere" else drum)
    run(b, 0.4)
    assert b.states[1].velocity[0] == pytest.approx(share, rel=1e-3)
    assert b.states[1].angular_velocity[2] == pytest.approx(-share / 0.05, rel=1e-3)
    assert b.states[1].position[1] == pytest.approx(0.05, abs=1e-6)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_collision_keeps_momentum_and_obeys_its_restitution(restitution: float) -> None:
    """Of smooth balls, off centre: the speed along the line of centres turns by the factor -e."""
    one = SphereCollider(
        center=(0, 0, 0), radius=0.05, velocity=(1, 0, 0), contact="slip",
        restitution=restitution, **BODY,
    )  # fmt: skip
    other = SphereCollider(center=(0.2, 0.03, 0), radius=0.05, dynamic=True, mass=1.0)
    b = bodies(one, other)
    before = _momenta(b)
    run(b, 0.5, (0.0, 0.0, 0.0))
    np.testing.assert_allclose(_momenta(b), before, atol=1e-12)
    n = np.array([np.sqrt(0.1**2 - 0.03**2), 0.03, 0.0]) / 0.1
    apart = (b.states[1].velocity - b.states[0].velocity) @ n
    # they meet up to a step early, which turns the line of centres a little
    assert apart == pytest.approx(restitution * n[0], abs=0.02)


def _momenta(b: RigidBodies) -> Any:
    states = b.states.values()
    linear = sum((s.properties.mass * s.velocity for s in states), np.zeros(3))
    arms = ((s, np.cross(s.position, s.properties.mass * s.velocity)) for s in states)
    angular = sum((moment + s.spin for s, moment in arms), np.zeros(3))
    return np.concatenate([linear, angular])


def test_bodies_and_what_they_hold_share_their_momentum_as_a_dense_solve_says() -> None:
    """`move_together` eliminates; here Lagrange's multipliers of P (u − V − ω × r) = 0 are solved for."""
    spec = BoxCollider(center=(0, 0, 0), size=(0.2, 0.1, 0.3), dynamic=True, mass=0.3)
    colliders = ColliderSet([spec])
    b = RigidBodies(colliders, SPACING)
    x = lattice((9, 3, 9), center=(0.05, 0.09, 0.0))
    rig = Rig(x, colliders=())
    rig.surround(colliders, b.arrays, 1)
    b.begin(0.0, DT, (0.0, 0.0, 0.0))
    c = rig.prepare(DT)
    rng = np.random.default_rng(1)
    contacts, count = c.view.walls.arrays.contacts, c.view.walls.count
    held = np.array(view(contacts.particle, count))
    modes = rng.choice([Mode.FREE, Mode.SLIDING, Mode.ALONG, Mode.FIXED], count)
    n = rng.normal(size=(count, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    write(contacts.mode, modes)
    write(contacts.normal, n)
    write(contacts.holder, np.where(modes == Mode.FREE, -1, 0))
    u = np.zeros((c.n, 3))
    u[:] = rng.normal(size=(c.n, 3))
    write(c.unknowns.velocity, u)
    given = rng.normal(size=(count, 3)) * rig.mass
    write(contacts.impulse, given)
    body_velocities.move_together(DT, True, c.view.near, c.view.walls.arrays, c.unknowns.velocity)

    place = numbers(c.view.near.position, c.n)[held]
    properties = b.states[0].properties
    system = np.zeros((6, 6))
    system[:3, :3] = properties.mass * np.eye(3)
    system[3:, 3:] = properties.inertia
    load = np.concatenate([-given.sum(0), -np.cross(place, given).sum(0)])
    blocks = []
    for k in range(count):
        taken = {
            Mode.FREE: np.zeros((3, 3)),
            Mode.SLIDING: np.outer(n[k], n[k]),
            Mode.ALONG: np.eye(3) - np.outer(n[k], n[k]),
            Mode.FIXED: np.eye(3),
        }[modes[k]]
        arm = np.concatenate([np.eye(3), np.cross(np.eye(3), place[k]).T], axis=1)
        system += rig.mass * arm.T @ taken @ arm
        blocks.append(taken @ arm)
    answer = np.linalg.solve(system, load)
    got = np.concatenate([view(b.arrays.velocity)[0], view(b.arrays.angular_velocity)[0]])
    np.testing.assert_allclose(got, answer, rtol=1e-4)
    after = numbers(c.unknowns.velocity, c.n)[held]
    np.testing.assert_allclose(after, u[held] + np.array(blocks) @ answer, atol=1e-4)


def _collision(material: dict[str, Any], contact: str, **solver: Any) -> Simulation:
    d = 0.02
    scene = {
        "simulation": {"spacing": d, "duration": 0.2, "gravity": [0.0, 0.0, 0.0]},
        "solver": solver,
        "materials": {"m": {"density": 1000.0, **material}},
        "fluids": [
            {
                "material": "m",
                "shape": "box",
                "center": [-0.15, 0.05, 0.02],
                "size": [0.1, 0.1, 0.1],
                "velocity": [1.0, 0.0, 0.0],
            }
        ],
        "colliders": [
            {
                "shape": "box",
                "center": [0.0, 0.0, 0.0],
                "size": [0.14, 0.2, 0.1],
                "contact": contact,
                **BODY,
            }
        ],
    }
    return Simulation(Scene.model_validate(scene))


def _sum(simulation: Simulation) -> tuple[Any, Any]:
    """Linear and angular momentum of fluid and bodies."""
    x = np.array(simulation.particles["position"], dtype=np.float64)
    p = 1000.0 * 0.02**3 * np.array(simulation.particles["velocity"], dtype=np.float64)
    both = _momenta(simulation.bodies)
    return p.sum(0) + both[:3], np.cross(x, p).sum(0) + both[3:]


@pytest.mark.physics
@pytest.mark.parametrize("contact", ["slip", "sticky"])
@pytest.mark.parametrize("material", [{"viscosity": 0.0}, {"viscosity": 50.0}], ids=str)
def test_a_blob_and_a_body_keep_their_momentum(material: dict[str, Any], contact: str) -> None:
    """Linear to round-off of a hundred steps in single precision; angular as pressures allow.

    Pressures act along directions at the end of the step, and that is not quite free of torque.
    """
    simulation = _collision(material, contact)
    linear, angular = _sum(simulation)
    while simulation.frame < simulation.scene.frames:
        simulation.step()
    after, turned = _sum(simulation)
    body = simulation.bodies.states[0]
    above(body.velocity[0], 0.1, "speed of the body, m/s")
    above(float(np.linalg.norm(body.angular_velocity)), 0.1, "spin of the body, rad/s")
    lost = np.linalg.norm(after - linear) / np.linalg.norm(linear)
    unspun = np.linalg.norm(turned - angular) / np.linalg.norm(angular)
    below(float(lost), 1e-5, "momentum lost", derived=True)
    below(float(unspun), 1e-2, "angular momentum lost")


def test_a_resumed_run_has_the_same_bodies(tmp_path: Any) -> None:
    simulation = _collision({"viscosity": 50.0}, "sticky")
    for _ in range(20):
        simulation.step()
    simulation.save(tmp_path / "c.npz")
    again = Simulation(simulation.scene, checkpoint=tmp_path / "c.npz")
    for _ in range(5):
        simulation.step()
        again.step()
    np.testing.assert_array_equal(simulation.bodies.save(), again.bodies.save())
    np.testing.assert_array_equal(simulation.particles["position"], again.particles["position"])
    pose = simulation.snapshot().colliders[0]
    np.testing.assert_array_equal(pose.position, simulation.bodies.states[0].position)
    assert np.linalg.norm(pose.position) > 1e-3


@pytest.mark.physics
def test_forces_are_told_with_the_momentum_that_they_bring() -> None:
    """The fluid's loss of momentum is the force on the body, and the figures of a step tell it."""
    simulation = _collision({"viscosity": 0.0}, "slip")
    gained = np.zeros(3)
    while simulation.frame < 4:
        figures = simulation.step()
        (told,) = figures["collider_forces"]
        gained += np.array(told["force"]) * figures["dt"]
    body = simulation.bodies.states[0]
    np.testing.assert_allclose(gained, body.properties.mass * body.velocity, rtol=1e-9, atol=1e-12)
    above(gained[0], 0.1, "momentum gained, kg m/s")


@pytest.mark.physics
def test_forces_on_fixed_colliders_are_told_if_asked_for() -> None:
    """Against a wall: all the momentum that the fluid lost, to round-off."""
    data = _collision({"viscosity": 50.0}, "slip").scene.model_dump(exclude_unset=True)
    data["simulation"]["report_forces"] = True
    wall = {"shape": "plane", "point": [-0.09, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0]}
    data["colliders"] = [{**wall, "contact": "slip"}]
    simulation = Simulation(Scene.model_validate(data))
    before = _sum(simulation)[0]
    impulse = np.zeros(3)
    while simulation.frame < 3:
        dt = simulation.step()["dt"]
        impulse += np.array(simulation.collider_forces[0].force) * dt
    lost = before - _sum(simulation)[0]
    above(impulse[0], 0.5 * before[0], "impulse, kg m/s")
    near(impulse, lost, "impulse against loss, kg m/s", abs=1e-5 * before[0], derived=True)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"dynamic": True}, "density"),
        ({"dynamic": True, "density": 600.0, "mass": 1.0}, "has both density and mass"),
        ({"density": 600.0}, "dynamic = true"),
        ({"velocity": [1.0, 0.0, 0.0]}, "dynamic = true"),
        ({"dynamic": True, "mass": 1.0, "motion": [{"time": 0.0}]}, "motion"),
        ({"dynamic": True, "mass": -1.0}, "mass"),
        ({"dynamic": True, "mass": 1.0, "restitution": 2.0}, "restitution"),
        ({"dynamic": True, "mass": 1.0, "container": True}, "container"),
    ],
)
def test_bad_bodies(more: dict[str, Any], sentence: str, tmp_path: Any) -> None:
    box = {"shape": "box", "center": [0.0, 0.0, 0.0], "size": [0.1, 0.1, 0.1], **more}
    path = tmp_path / "bad.toml"
    scene = {"simulation": {"spacing": 0.02, "duration": 0.1}, "colliders": [box]}
    path.write_text(to_toml(scene))
    with pytest.raises(ViscoilError, match=sentence):
        Scene.load(path)
