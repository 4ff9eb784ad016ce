"""What one iteration of each projection and one neighbour search cost per particle."""

from typing import Any

import numpy as np
from measure import Body, Timing, lattice, note, report, timed

from viscoil.core import compute
from viscoil.core.compute import write
from viscoil.scene import Material
from viscoil.solvers.dcpbd.position_projection import MARGIN
from viscoil.solvers.linear.conjugate_gradients import Limits

SIDE, SPACING, DT = 46, 0.02, 1 / 240
ITERATIONS = 10  # between two starts from the same state
REPETITIONS = 15


def block() -> Body:
    """46³ particles on a lattice that is disturbed by up to a twentieth of a spacing."""
    rng = np.random.default_rng(0)
    x = lattice((SIDE, SIDE, SIDE), SPACING)
    x += rng.uniform(-0.05, 0.05, x.shape) * SPACING
    material = Material(density=1000.0, modulus=1000.0, relaxation_time=0.1)
    counts: dict[str, Any] = {
        "position_iterations": ITERATIONS,
        "max_position_iterations": ITERATIONS,
    }
    body = Body(x, SPACING, material, velocity_tolerance=0.0, **counts)
    for _ in range(2):
        body.step(DT)
    return body


def velocity_iterations(body: Body) -> Timing:
    """`ITERATIONS` of the conjugate gradients, each time from the same random velocities."""
    c = body.context()
    project = body.solver._project_velocities
    start = np.random.default_rng(1).normal(0.0, 0.1, (c.n, 3))
    residual = 0.0
    limits = Limits(enough=0.0, tolerable=0.0, usual=ITERATIONS, most=ITERATIONS)

    def restart() -> None:
        nonlocal residual
        write(c.unknowns.velocity, start)
        write(c.unknowns.free_velocity, start)
        write(c.unknowns.stress, np.zeros((c.n, 6)))
        residual = project._start(c)

    def iterate() -> None:
        used, _ = project._conjugate_gradients(c, residual, limits)
        assert used == ITERATIONS

    return timed(iterate, REPETITIONS, before=restart)


def position_iterations(body: Body) -> Timing:
    """`ITERATIONS` of density and conformation in turn, each time from the same positions."""
    c = body.context()
    project = body.solver._project_positions
    velocity = np.random.default_rng(2).normal(0.0, 0.1, (c.n, 3))

    def restart() -> None:
        write(c.unknowns.velocity, velocity)
        write(c.unknowns.stress, np.zeros((c.n, 6)))
        project.predict(c)

    def iterate() -> None:
        project.iterate(c)
        assert project._loop.iterations == ITERATIONS

    return timed(iterate, REPETITIONS, before=restart)


def neighbor_search(body: Body) -> Timing:
    """A search and sort after all particles have moved by up to a tenth of a spacing."""
    rng = np.random.default_rng(3)
    radius = (1.0 + MARGIN) * body.solver.scale.support
    home = np.array(body.particles["position"])
    ids = np.array(body.particles["id"])
    home[ids] = home.copy()

    def move() -> None:
        shift = rng.uniform(-0.05, 0.05, home.shape) * SPACING
        body.particles["position"] = home[body.particles["id"]] + shift

    return timed(lambda: body.neighbors.update(body.particles, radius), REPETITIONS, before=move)


def main() -> None:
    compute.initialize()
    body = block()
    n = body.particles.count
    print(f"{n} particles, {body.neighbors.pair_count / n:.1f} neighbours each,", end=" ")
    print(f"{compute.backend()[1]} threads, median of {REPETITIONS}")
    for name, timing, count, bar in (
        ("velocity iteration", velocity_iterations(body), ITERATIONS, 100),
        ("position and density iteration", position_iterations(body), ITERATIONS, 350),
        ("neighbour search and sort", neighbor_search(body), 1, 400),
    ):
        report(name, timing.wall / n / count * 1e9, "ns per particle", bar)
        note("processor time / threads", timing.cpu / n / count * 1e9, "ns per particle")


if __name__ == "__main__":
    main()
