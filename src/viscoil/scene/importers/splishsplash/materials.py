"""Materials: density, viscosity, surface tension and elasticity in SI units."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viscoil.scene.importers.splishsplash import coefficients
from viscoil.scene.importers.splishsplash.configuration import Setting
from viscoil.scene.importers.splishsplash.document import Section

STANDARD, WEILER = "Standard viscosity", "Weiler et al. 2018"
BENDER, PEER15, PEER16 = "Bender and Koschier 2017", "Peer et al. 2015", "Peer et al. 2016"
TAKAHASHI = "Takahashi et al. 2015 (improved)"
JESKE, ZORILLA = "Jeske et al. 2023", "Zorilla, Ritter, et al. 2020"

VISCOSITIES = {
    0: "", 1: STANDARD, 2: BENDER, 3: PEER15, 4: PEER16, 5: TAKAHASHI, 6: WEILER, 7: WEILER,
}  # fmt: skip
TENSIONS = {
    0: "", 1: "Becker and Teschner 2007", 2: "Akinci et al. 2013", 3: "He et al. 2014", 4: JESKE,
    5: ZORILLA,
}  # fmt: skip
ELASTICITIES = {
    0: "", 1: "Becker et al. 2009", 2: "Peer et al. 2018", 3: "Kugelstadt et al. 2021",
    4: "Kee et al. 2023",
}  # fmt: skip
VORTICITIES = {0: "", 1: "Bender et al. 2017", 2: "Vorticity confinement"}
DRAGS = {0: "", 1: "Macklin et al. 2014", 2: "Gissler et al. 2017"}
KINEMATIC = (STANDARD, WEILER, TAKAHASHI)  # their coefficient is in m²/s
RUBBING = (PEER15, PEER16, TAKAHASHI)  # these always have friction at walls

COLORS = ((0.25, 0.5, 0.85), (0.85, 0.45, 0.2), (0.35, 0.7, 0.35), (0.7, 0.35, 0.65))

_DRAWING = ("colorField", "colorMapType", "renderMinValue", "renderMaxValue")
_SOLVING = (
    "viscoMaxIter", "viscoMaxError", "viscoMaxIterOmega", "viscoMaxErrorOmega", "alpha",
    "maxNeighbors", "maxNeighbors_", "maxError", "maxIterationsCG", "tolCG", "solverType",
    "materialType", "useLineSearch", "lbfgsWindowSize", "elasticityMaxIter", "elasticityMaxError",
    "surfaceTensionMaxIter", "surfaceTensionMaxError", "surfaceTensionMode", "surfTZRversion",
    "surfTZRCsd", "surfTZRr-ratio", "surfTZRtau", "surfTZRd", "surfTZRsampling",
    "surfTZRnormal-mode", "surfTZRd-offset", "surfTZRPcaMixNrm", "surfTZRPcaMixCur",
    "surfTZRMCSamples", "surfTZRNeighLimit", "surfTZRsmoothPasses", "surfTZRtemporalSmooth",
)  # fmt: skip
_OF_SOLVERS = "settings of its solvers; Viscoil has its own"
_CHOICES: tuple[tuple[str, dict[int, str], int], ...] = (
    ("viscosityMethod", VISCOSITIES, 1),
    ("surfaceTensionMethod", TENSIONS, 0),
    ("elasticityMethod", ELASTICITIES, 0),
    ("vorticityMethod", VORTICITIES, 0),
    ("dragMethod", DRAGS, 0),
)


@dataclass(frozen=True)
class Made:
    """A material that was read, and what colliders and emitters need to know of it."""

    table: dict[str, Any]
    sticks: bool
    """Whether it rubs on walls."""
    section: Section


def read_material(section: Section, setting: Setting) -> Made:
    """One entry of Materials."""
    density = section.positive("density0", 1000.0)
    table: dict[str, Any] = {"density": density}
    name, part = _method(section, "viscosityMethod", VISCOSITIES, 1)
    viscosity = _viscosity(name, part, density, setting)
    sticks = name in RUBBING or part.number("viscosityBoundary", 0.0) > 0.0
    viscosity += _read_tension(section, table, density, setting)
    _read_elasticity(section, table, viscosity)
    _leave_vorticity(section)
    _leave_drag(section)
    section.leave(_DRAWING, "colours by velocity and the like are not drawn")
    _finish_methods(section)
    return Made(table, sticks, section)


def _method(
    section: Section, key: str, names: Mapping[int, str], default: int
) -> tuple[str, Section]:
    """The method that a number names, and the table with its coefficients."""
    number = section.whole(key, default)
    if number not in names:
        raise section.bad(key, f"must be a method from 0 to {max(names)}")
    part = section.child(names[number]) if names[number] else None
    return names[number], part or section


def _finish_methods(section: Section) -> None:
    """Lists what is in the tables of methods that nobody asked for, and tables of no use."""
    section.leave(_SOLVING, _OF_SOLVERS)
    for key, names, default in _CHOICES:
        chosen = names[section.whole(key, default)]
        for name in dict.fromkeys(filter(None, names.values())):
            part = section.child(name)
            if part is None:
                continue
            if name == chosen:
                part.leave(_SOLVING, _OF_SOLVERS)
                part.finish()
            else:
                section.losses.add(part.place, "its method is not the one that is chosen")


def _viscosity(name: str, part: Section, density: float, setting: Setting) -> float:
    """Pa s."""
    coefficient = part.number("viscosity", 0.01 if name else 0.0)
    if not name or coefficient < 0.0:
        return 0.0
    if name in KINEMATIC:
        return density * coefficient
    share = 1.0 - coefficient if name == BENDER else coefficient
    found = coefficients.viscosity_of_share(share, density, setting.spacing, setting.step)
    part.lost("viscosity", f"has no unit in {name}; {found:.4g} Pa s is an estimate of it")
    return float(f"{found:.4g}")


def _read_tension(
    section: Section, table: dict[str, Any], density: float, setting: Setting
) -> float:
    """Sets surface tension and adhesion; returns the viscosity (Pa s) that comes with them."""
    name, part = _method(section, "surfaceTensionMethod", TENSIONS, 0)
    if not name:
        return 0.0
    coefficient = part.number("surfaceTension", 0.05)
    wall = part.number("surfaceTensionBoundary", 0.0)
    if name == ZORILLA:
        found = coefficients.tension_of_curvature(coefficient, setting.spacing)
    elif name == JESKE:
        found = coefficients.tension_of_pairs(coefficient)
    else:
        part.lost("surfaceTension", f"has no unit in {name} that could be carried over")
        return 0.0
    table["surface_tension"] = tension = float(f"{found:.4g}")
    part.lost("surfaceTension", f"is no tension in {name}; {tension:g} N/m is an estimate of it")
    if name == JESKE and wall > 0.0:
        # from twice the surface tension on, walls are wetted completely
        adhesion = min(coefficients.adhesion_of_pairs(wall), 2.0 * tension)
        table["adhesion"] = float(f"{adhesion:.4g}")
    part.leave(("surfaceTensionViscosityBoundary", "surfaceTensionXSPH"), "has no counterpart")
    return density * part.number("surfaceTensionViscosity", 0.0)


def _read_elasticity(section: Section, table: dict[str, Any], viscosity: float) -> None:
    """Sets the stresses, of a fluid or of an elastic solid."""
    name, part = _method(section, "elasticityMethod", ELASTICITIES, 0)
    if not name:
        table["viscosity"] = viscosity
        return
    for low, high in (("fixedBoxMin", "fixedBoxMax"), ("fixedBox2Min", "fixedBox2Max")):
        corners = part.vector(low, (0.0,) * 3), part.vector(high, (0.0,) * 3)
        if all(a < b for a, b in zip(*corners, strict=True)):
            raise part.refused(
                f"holds particles fast in a box ({low}), which Viscoil cannot do: without it "
                "the body would fall"
            )
    young, poisson = part.positive("youngsModulus", 1e5), part.number("poissonsRatio", 0.3)
    table["modulus"] = coefficients.shear_modulus(young, poisson)
    table["relaxation_time"] = float("inf")
    table["solvent_viscosity"] = viscosity
    part.lost("poissonsRatio", "elastic bodies keep their volume here, as with 0.5")


def _leave_vorticity(section: Section) -> None:
    name, part = _method(section, "vorticityMethod", VORTICITIES, 0)
    if name:
        section.lost("vorticityMethod", f"{name}: there is none; rotation is kept by the solver")
    part.leave(("vorticity", "viscosityOmega", "inertiaInverse"), "coefficients of vorticity")


def _leave_drag(section: Section) -> None:
    name, part = _method(section, "dragMethod", DRAGS, 0)
    if name:
        section.lost(
            "dragMethod",
            f"{name}: drag of the air; a wind field with surface_only = true is the nearest",
        )
    part.leave(("drag",), "coefficient of drag")
