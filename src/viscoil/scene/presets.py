"""Materials that a scene can name without describing them.

The numbers are of the right order for the everyday substance, which itself varies with recipe,
temperature and brand by a factor of two or more. Foods that hold their shape through a yield
stress are stood in for by Maxwell fluids that relax slowly: they keep their form for a while,
and then sag.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True)
class Preset:
    """A named material: what it is, where its numbers come from, and the numbers (SI units)."""

    description: str
    source: str
    values: Mapping[str, Any]


_SLOW = "its yield stress is stood in for by a slowly relaxing Maxwell fluid"
_TYPICAL = "typical value, order of magnitude"

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "water": Preset(
            "Water at 20 °C.",
            "handbook value (CRC Handbook of Chemistry and Physics): 998 kg/m³, 1.00 mPa s",
            {"density": 998.0, "viscosity": 1.0e-3, "color": (0.25, 0.5, 0.8), "transmission": 0.8},
        ),
        "olive-oil": Preset(
            "Olive oil at 20 °C.",
            "typical handbook value: 911 kg/m³, 84 mPa s",
            {
                "density": 911.0,
                "viscosity": 0.084,
                "color": (0.72, 0.68, 0.15),
                "transmission": 0.6,
            },
        ),
        "honey": Preset(
            "Runny honey at 20 °C.",
            "typical handbook value for about 18 % water: 1420 kg/m³, 2 to 20 Pa s",
            {"density": 1420.0, "viscosity": 8.0, "color": (0.92, 0.58, 0.1), "transmission": 0.35},
        ),
        "syrup": Preset(
            "Corn syrup at 20 °C.",
            "typical handbook value: 1380 kg/m³, 2 to 5 Pa s",
            {"density": 1380.0, "viscosity": 3.0, "color": (0.75, 0.38, 0.1), "transmission": 0.35},
        ),
        "ketchup": Preset(
            f"Tomato ketchup; {_SLOW}.",
            f"{_TYPICAL}: elastic modulus of some 100 Pa, yield stress 15 to 50 Pa",
            {
                "density": 1140.0,
                "modulus": 200.0,
                "relaxation_time": 0.5,
                "solvent_viscosity": 0.1,
                "color": (0.75, 0.08, 0.04),
                "transmission": 0.0,
            },
        ),
        "toothpaste": Preset(
            f"Toothpaste; {_SLOW}.",
            f"{_TYPICAL}: elastic modulus of about 1 kPa, yield stress 100 to 200 Pa",
            {
                "density": 1300.0,
                "modulus": 1000.0,
                "relaxation_time": 2.0,
                "solvent_viscosity": 1.0,
                "color": (0.85, 0.95, 0.95),
                "transmission": 0.0,
            },
        ),
        "thick-cream": Preset(
            f"Cream whipped to stiff peaks; {_SLOW}.",
            f"{_TYPICAL}: half air by volume, elastic modulus of about 1 kPa",
            {
                "density": 500.0,
                "modulus": 800.0,
                "relaxation_time": 1.0,
                "solvent_viscosity": 0.5,
                "color": (0.96, 0.93, 0.85),
                "transmission": 0.0,
            },
        ),
        "runny-cream": Preset(
            f"Cream whipped lightly, still pourable; {_SLOW}.",
            f"{_TYPICAL}: some air, elastic modulus of some 10 Pa",
            {
                "density": 700.0,
                "modulus": 50.0,
                "relaxation_time": 0.2,
                "solvent_viscosity": 0.1,
                "color": (0.95, 0.9, 0.78),
                "transmission": 0.0,
            },
        ),
        "melted-chocolate": Preset(
            "Melted milk chocolate at 40 °C, without its small yield stress.",
            "typical handbook value: 1270 kg/m³, Casson viscosity 1 to 3 Pa s",
            {"density": 1270.0, "viscosity": 3.0, "color": (0.25, 0.12, 0.06), "transmission": 0.0},
        ),
        "dough": Preset(
            "Wheat flour dough before it rises.",
            f"{_TYPICAL}: elastic modulus of some kPa, relaxation over seconds",
            {
                "density": 1150.0,
                "modulus": 5000.0,
                "relaxation_time": 2.0,
                "solvent_viscosity": 5.0,
                "color": (0.9, 0.78, 0.58),
                "transmission": 0.0,
            },
        ),
        "gel": Preset(
            "Gelatin dessert, an elastic solid.",
            f"{_TYPICAL} for 3 to 5 % gelatin: elastic modulus of some kPa",
            {
                "density": 1020.0,
                "modulus": 2000.0,
                "relaxation_time": inf,
                "solvent_viscosity": 0.2,
                "color": (0.8, 0.15, 0.25),
                "transmission": 0.5,
            },
        ),
        "egg-white": Preset(
            "Thick egg white, which pulls back after it is stretched.",
            f"{_TYPICAL}: weakly elastic, viscosity below 1 Pa s",
            {
                "density": 1035.0,
                "modulus": 5.0,
                "relaxation_time": 0.1,
                "solvent_viscosity": 0.01,
                "color": (0.9, 0.88, 0.7),
                "transmission": 0.7,
            },
        ),
        "lava": Preset(
            "Basaltic lava at about 1150 °C.",
            "typical handbook value: 2650 kg/m³, 100 to 1000 Pa s",
            {
                "density": 2650.0,
                "viscosity": 200.0,
                "color": (0.9, 0.25, 0.05),
                "transmission": 0.0,
            },
        ),
    }
)
