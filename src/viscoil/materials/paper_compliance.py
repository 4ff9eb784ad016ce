"""A material given as in Barreiro 2017, by τ and the compliance α of particles of unit mass.

One α stands for all six components: a = α/(2ρ) for normal and α/ρ for shear components. That is not
isotropic (the six-vector counts each off-diagonal once); it is kept for replication. Its volume is
that of any other material.
"""

from viscoil.materials.coefficients import VOLUME_STIFFNESS, Coefficients, relaxation
from viscoil.scene import Material


def applies(material: Material) -> bool:
    """To materials with the key `compliance`."""
    return material.compliance is not None


def coefficients(material: Material, dt: float) -> Coefficients:
    """Of a step of `dt` (s)."""
    assert material.compliance is not None, "it would not apply"
    a = material.compliance / material.density
    soft, share = 0.5 * a, 1.0 / VOLUME_STIFFNESS
    return Coefficients(
        normal_compliance=soft,
        shear_compliance=a,
        volume_compliance=share * soft,
        memory=1.0,
        volume_memory=share,
        relaxation=relaxation(material.relaxation_time, dt),
        active=True,
    )
