"""Oldroyd-B: a Maxwell element, modulus G and viscosity η = G τ in series, beside a Newtonian solvent.

Newtonian fluids (no modulus of their own), elastic solids (no relaxation) and inviscid ones are its
limits.
"""

from math import inf

from viscoil.materials.element import Element
from viscoil.scene import Material


def applies(material: Material) -> bool:
    """To all materials that are given by what a laboratory measures."""
    return material.compliance is None


def element(material: Material) -> Element:
    """With the spring 1/G in all directions alike."""
    if material.modulus <= 0.0 or material.viscosity <= 0.0:
        return Element(inf, inf, inf, material.solvent_viscosity, material.relaxation_time)
    spring = 1.0 / material.modulus
    return Element(
        normal_compliance=spring,
        shear_compliance=spring,
        viscosity=material.viscosity,
        solvent_viscosity=material.solvent_viscosity,
        relaxation_time=material.relaxation_time,
    )
