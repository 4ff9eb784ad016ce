"""A material given as in Barreiro 2017, by τ and the compliance α of particles of unit mass.

One α stands for all six components: α/(2ρ) for normal and α/ρ for shear components. That is not
isotropic (the six-vector counts each off-diagonal once); it is kept for replication. The paper has no
dashpot in series, though Q forgets, and no solvent: one that is given beside α does nothing.
"""

from math import inf

from viscoil.materials.element import Element
from viscoil.scene import Material


def applies(material: Material) -> bool:
    """To materials with the key `compliance`."""
    return material.compliance is not None


def element(material: Material) -> Element:
    """With α/ρ for the spring."""
    assert material.compliance is not None, "it would not apply"
    spring = material.compliance / material.density
    return Element(
        normal_compliance=0.5 * spring,
        shear_compliance=spring,
        viscosity=inf,
        solvent_viscosity=0.0,
        relaxation_time=material.relaxation_time,
    )
