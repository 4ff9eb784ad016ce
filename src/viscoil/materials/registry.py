"""The material laws: a file each with `applies` and `element`, and a line each here."""

from collections.abc import Callable
from typing import Protocol

from viscoil.materials import oldroyd, paper_compliance
from viscoil.materials.element import Element
from viscoil.scene import Material


class Law(Protocol):
    """A constitutive law: which materials follow it, and what it makes of their keys."""

    @property
    def applies(self) -> Callable[[Material], bool]:
        """Whether a material is given by this law's keys."""

    @property
    def element(self) -> Callable[[Material], Element]:
        """What such a material is to a solver."""


LAWS: tuple[Law, ...] = (paper_compliance, oldroyd)
"""The first that applies is taken."""


def element(material: Material) -> Element:
    """By the first law that applies."""
    return next(law for law in LAWS if law.applies(material)).element(material)
