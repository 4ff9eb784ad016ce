"""What a scene will need is known before anything is allocated."""

from math import pi
from typing import Any

import pytest

from viscoil.core import memory
from viscoil.core.errors import RunError
from viscoil.core.memory import SHARE_OF_MEMORY
from viscoil.particles.store import GROWTH
from viscoil.sampling import amounts
from viscoil.scene import Scene
from viscoil.simulation import memory_need
from viscoil.solvers.dcpbd import solver

D = 0.01
SHAPES: list[tuple[dict[str, Any], float]] = [
    ({"shape": "box", "size": (0.1, 0.2, 0.3)}, 0.006),
    ({"shape": "sphere", "radius": 0.1}, 4.0 / 3.0 * pi * 1e-3),
    ({"shape": "cylinder", "radius": 0.1, "height": 0.3}, pi * 0.01 * 0.3),
    ({"shape": "torus", "radius": 0.2, "tube_radius": 0.05}, 2.0 * pi**2 * 0.2 * 0.0025),
]
HONEY = {"material": "honey", "center": (0.0, 0.0, 0.0)}
NOZZLE = {"shape": "disc", "radius": 0.05, "direction": (0.0, -1.0, 0.0), **HONEY}


def scene(
    fluids: tuple[dict[str, Any], ...] = (),
    emitters: tuple[dict[str, Any], ...] = (),
    **simulation: Any,
) -> Scene:
    return Scene.model_validate(
        {
            "simulation": {"spacing": D, "duration": 2.0, **simulation},
            "fluids": [HONEY | f for f in fluids],
            "emitters": [NOZZLE | e for e in emitters],
        }
    )


@pytest.mark.parametrize(("shape", "volume"), SHAPES, ids=[str(s["shape"]) for s, _ in SHAPES])
def test_particles_of_a_body(shape: dict[str, Any], volume: float) -> None:
    assert amounts.expected_particles(scene((shape,))) == pytest.approx(volume / D**3, abs=1)


@pytest.mark.parametrize("shape", [s for s, _ in SHAPES], ids=[str(s["shape"]) for s, _ in SHAPES])
def test_the_guess_is_near_what_is_seeded(shape: dict[str, Any]) -> None:
    """A lattice cut to a shape has its volume but for the surface: area · d/2, below a fifth."""
    from viscoil.colliders import ColliderSet
    from viscoil.sampling.seeding import seed

    body = scene((shape,))
    seeded = len(seed(body, ColliderSet(body.colliders)).position)
    assert seeded == pytest.approx(amounts.expected_particles(body), rel=0.2)


def test_particles_of_emitters() -> None:
    """Area or flow rate, times the time that the nozzle is open within the run."""
    area = pi * 0.05**2
    for emitter, volume in (
        ({"speed": 0.5}, area * 0.5 * 2.0),
        ({"speed": 0.5, "start": 1.5}, area * 0.5 * 0.5),
        ({"speed": 0.5, "start": 0.5, "stop": 1.0}, area * 0.5 * 0.5),
        ({"speed": 0.5, "start": 3.0}, 0.0),
        ({"flow_rate": 1e-3}, 2e-3),
    ):
        found = amounts.expected_particles(scene(emitters=(emitter,)))
        assert found == pytest.approx(volume / D**3, abs=1)
    rectangle = NOZZLE | {"shape": "rectangle", "size": (0.1, 0.2), "speed": 1.0}
    del rectangle["radius"]
    data = {"simulation": {"spacing": D, "duration": 2.0}, "emitters": [rectangle]}
    found = amounts.expected_particles(Scene.model_validate(data))
    assert found == pytest.approx(0.1 * 0.2 * 2.0 / D**3, abs=1)


def test_emitters_stop_at_the_most_particles() -> None:
    body = ({"shape": "box", "size": (0.1, 0.1, 0.1)},)
    for most, expected in ((1500, 1500), (500, 1000)):
        found = amounts.expected_particles(scene(body, ({"speed": 5.0},), max_particles=most))
        assert found == pytest.approx(expected, abs=1)


def test_a_scene_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    body = scene(({"shape": "box", "size": (1.0, 1.0, 1.0)},))
    needed = 1_000_000 * memory_need.bytes_per_particle(body)
    monkeypatch.setattr(memory_need, "available", lambda: int(needed / SHARE_OF_MEMORY) + 1)
    memory_need.check(body)
    monkeypatch.setattr(memory_need, "available", lambda: int(needed / SHARE_OF_MEMORY) - 1)
    with pytest.raises(RunError, match=r"1,000,000 particles.*larger simulation\.spacing"):
        memory_need.check(body)


def test_the_estimate_goes_with_the_kind_of_scene() -> None:
    """Water takes half of what honey does; where particles are added, arrays have room to grow."""
    box = {"shape": "box", "size": (0.1, 0.1, 0.1)}
    water = {"still": {"density": 1000.0, "viscosity": 0.0}}
    simulation = {"spacing": D, "duration": 1.0}
    body = {**HONEY, **box, "material": "still"}
    still = {"simulation": simulation, "materials": water, "fluids": [body]}
    thick = scene((box,))
    assert memory_need.bytes_per_particle(thick) == solver.BYTES_UNDER_STRESS
    plain = memory_need.bytes_per_particle(Scene.model_validate(still))
    assert plain == solver.BYTES_WITHOUT_STRESS < 0.6 * solver.BYTES_UNDER_STRESS
    written = [{"type": "frames", "channels": ("conformation",)}]
    full = Scene.model_validate({**still, "outputs": written})
    assert memory_need.bytes_per_particle(full) == solver.BYTES_UNDER_STRESS
    fed = {**still, "emitters": [{**NOZZLE, "material": "still", "speed": 1.0}]}
    room = memory_need.bytes_per_particle(Scene.model_validate(fed)) / plain
    assert room == memory_need.ROOM_TO_GROW == GROWTH


def test_free_memory_is_a_sensible_number() -> None:
    assert 2**24 < memory.available() <= 2**62
