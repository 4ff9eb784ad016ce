"""The material laws: a file each with `applies` and `coefficients`, and a line each here."""

from collections.abc import Callable
from typing import Protocol

from viscoil.materials import oldroyd, paper_compliance
from viscoil.materials.coefficients import Coefficients
from viscoil.scene import Material


class Law(Protocol):
    """A constitutive law: which materials follow it, and what it makes of their keys in a step."""

    @property
    def applies(self) -> Callable[[Material], bool]:
        """Whether a material is given by this law's keys."""

    @property
    def coefficients(self) -> Callable[[Material, float], Coefficients]:
        """The numbers of a material for a step of so many seconds."""


LAWS: tuple[Law, ...] = (paper_compliance, oldroyd)
"""The first that applies is taken."""


def coefficients(material: Material, dt: float) -> Coefficients:
    """By the first law that applies."""
    return next(law for law in LAWS if law.applies(material)).coefficients(material, dt)
