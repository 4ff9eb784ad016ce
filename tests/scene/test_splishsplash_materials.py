"""Scenes of SPlisHSPlasH: settings, materials and fields in SI units."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from splish_rigs import BLOCK, DAM, Take, scene_of

from viscoil.colliders import ColliderSet
from viscoil.core.errors import SceneError
from viscoil.sampling.seeding import seed
from viscoil.scene.importers.splishsplash import coefficients


def test_a_dam_break(imported: Take, models: Path) -> None:
    """Every number of a small scene, and the particles where SPlisHSPlasH puts them."""
    scene = scene_of(imported(DAM), models)
    assert scene.simulation.spacing == 0.05
    assert (scene.simulation.duration, scene.simulation.gravity) == (2.0, (0.0, -9.81, 0.0))
    assert scene.simulation.max_time_step == 0.005
    (tank,) = scene.colliders
    assert tank.shape == "box" and tank.container and tank.contact == "slip"
    assert (tank.center, tank.size) == ((0.0, 1.5, 0.0), (4.0, 3.0, 1.5))
    material = scene.materials["Fluid"]
    assert (material.density, material.kind) == (800.0, "inviscid")
    position = seed(scene, ColliderSet.of(scene)).position
    # round(1/0.05) − 1 particles along each axis, the first a diameter inside
    axis = -0.5 + 0.05 * np.arange(1, 20)
    np.testing.assert_allclose(np.unique(position[:, 0].round(5)), axis, atol=1e-5)
    np.testing.assert_allclose(np.unique(position[:, 1].round(5)), axis + 0.5, atol=1e-5)
    assert len(position) == 19**3


def material(imported: Take, models: Path, **keys: Any) -> Any:
    result = imported(DAM, Materials=[{"id": "Fluid", "density0": 800.0, **keys}])
    return scene_of(result, models).materials["Fluid"], result.lost


@pytest.mark.parametrize(
    ("number", "name"),
    [(1, "Standard viscosity"), (5, "Takahashi et al. 2015 (improved)"), (6, "Weiler et al. 2018")],
)
def test_kinematic_viscosities(imported: Take, models: Path, number: int, name: str) -> None:
    """η = ρ ν, whether the coefficient is in a table of its own or, as in older files, beside it."""
    nested, lost = material(imported, models, viscosityMethod=number, **{name: {"viscosity": 0.5}})
    flat, _ = material(imported, models, viscosityMethod=number, viscosity=0.5)
    assert nested.viscosity == flat.viscosity == 400.0
    assert not any("viscosity" in line for line in lost)


def test_viscosities_without_a_unit_are_estimated_and_told(imported: Take, models: Path) -> None:
    """A share of 0.05 of the strain rate is left after a step of 5 ms: ν = −ln 0.05/(k² Δt)."""
    expected = -800.0 * math.log(0.05) / ((2.0 * math.pi / 0.2) ** 2 * 0.005)
    peer, lost = material(
        imported, models, viscosityMethod=3, **{"Peer et al. 2015": {"viscosity": 0.05}}
    )
    bender, _ = material(
        imported, models, viscosityMethod=2, **{"Bender and Koschier 2017": {"viscosity": 0.95}}
    )
    assert peer.viscosity == pytest.approx(expected, rel=1e-3)
    assert bender.viscosity == pytest.approx(expected, rel=1e-3)
    assert any("viscosity = 0.05" in line and "estimate" in line for line in lost)


@pytest.mark.parametrize(("boundary", "contact"), [(0.0, "slip"), (2.0, "sticky")])
def test_boundary_viscosity_makes_walls_stick(
    imported: Take, boundary: float, contact: str
) -> None:
    keys = {"Weiler et al. 2018": {"viscosity": 1.0, "viscosityBoundary": boundary}}
    result = imported(DAM, Materials=[{"id": "Fluid", "viscosityMethod": 6, **keys}])
    assert result.tables["colliders"][0]["contact"] == contact


def test_surface_tension(imported: Take, models: Path) -> None:
    """k/d² for the one, Fowler's integral over pairs, done by SciPy, for the other."""
    method = {"Zorilla, Ritter, et al. 2020": {"surfaceTension": 0.1}}
    zorilla, _ = material(imported, models, surfaceTensionMethod=5, **method)
    assert zorilla.surface_tension == pytest.approx(0.1 / 0.05**2)
    d, c = 0.05, 300.0
    h, volume = 2 * d, 0.8 * d**3

    def kernel(r: float) -> float:
        q = max(r, d) / h
        return 16.0 / math.pi / h**3 * (1 - q) ** 3

    force = quad(lambda r: r**4 * c * volume * 10 / 7 * kernel(r) * r, 0, h, points=[d])[0]
    fowler = math.pi / volume**2 / 8 * force
    keys = {"surfaceTension": c, "surfaceTensionViscosity": 0.2, "surfaceTensionBoundary": 1e4}
    jeske, lost = material(
        imported, models, viscosityMethod=0, surfaceTensionMethod=4, **{"Jeske et al. 2023": keys}
    )
    assert jeske.surface_tension == pytest.approx(fowler, rel=1e-3)
    assert jeske.adhesion == pytest.approx(2 * fowler, rel=1e-3)  # wets wholly, and no more
    assert jeske.viscosity == pytest.approx(160.0)
    assert any("surfaceTension = 300.0" in line and "estimate" in line for line in lost)
    assert coefficients.adhesion_of_pairs(10.0) == pytest.approx(1.4 * fowler / 30.0)


def test_elasticity(imported: Take, models: Path) -> None:
    """G = E/(2 (1 + ν)), and the viscosity is that of a solvent."""
    keys = {"Kugelstadt et al. 2021": {"youngsModulus": 2.6e5, "poissonsRatio": 0.3}}
    gel, _ = material(imported, models, elasticityMethod=3, viscosityMethod=1, **keys)
    assert gel.kind == "elastic"
    assert gel.modulus == pytest.approx(1e5)
    assert gel.solvent_viscosity == pytest.approx(8.0)


def test_particles_that_are_held_fast_are_refused(imported: Take) -> None:
    keys = {"fixedBoxMin": [-9, -9, -9], "fixedBoxMax": [0, 9, 9]}
    bad = [{"id": "Fluid", "elasticityMethod": 3, "Kugelstadt et al. 2021": keys}]
    with pytest.raises(SceneError, match="holds particles fast in a box"):
        imported(DAM, Materials=bad)


def test_animation_fields(imported: Take, models: Path) -> None:
    """A constant velocity is a wind; a formula is listed."""
    field = {
        "translation": [1, 0, 0],
        "scale": [2, 3, 4],
        "expression_x": "1.5",
        "expression_y": "0",
        "expression_z": "-2",
        "startTime": 1,
        "endTime": 2,
    }
    ball = {**field, "shapeType": 1, "startTime": 0}
    waves = {**field, "expression_x": "cos(2*t)"}
    result = imported(DAM, AnimationFields=[field, ball, waves])
    first, second = scene_of(result, models).fields
    assert first.type == "wind" and first.region is not None and second.region is not None
    assert (first.velocity, first.start, first.stop) == ((1.5, 0.0, -2.0), 1.0, 2.0)
    assert (first.region.size, second.region.radius) == ((2.0, 3.0, 4.0), 2.0)
    assert any(line.startswith("AnimationFields[2]: follows formulas") for line in result.lost)


def test_several_materials(imported: Take, models: Path) -> None:
    """Blocks keep their ids, materials that nothing is made of are listed, and older files work."""
    blocks = [BLOCK, {**BLOCK, "id": "oil", "translation": [0, 1.2, 0]}]
    data = {key: value for key, value in DAM.items() if key != "Materials"}
    result = imported(
        data,
        FluidBlocks=blocks,
        oil={"density0": 900},
        Materials=[{"id": "Fluid"}, {"id": "gas", "density0": 1}],
    )
    scene = scene_of(result, models)
    assert [(f.material) for f in scene.fluids] == ["Fluid", "oil"]
    assert {name: m.density for name, m in scene.materials.items()} == {"Fluid": 1000, "oil": 900}
    assert any("Materials[1]" in line and "'gas'" in line for line in result.lost)
