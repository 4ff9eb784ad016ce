"""Looks in the words of Mitsuba: a surface, and the material behind it. Plain dictionaries."""

import math
from collections.abc import Sequence
from typing import Any

from viscoil.snapshots.looks import Look

Words = dict[str, Any]

FORWARD = 0.8  # mean cosine of scattering: milky fluids scatter mostly ahead (milk: 0.7 to 0.95)


def rgb(values: Sequence[float]) -> Words:
    """A colour."""
    return {"type": "rgb", "value": [float(v) for v in values]}


def surface_words(look: Look) -> Words:
    """The scattering at the surface (a bsdf)."""
    if look.depth is None:
        return _opaque(look)
    if look.thin:
        return {"type": "thindielectric", "int_ior": look.index}
    through = rgb([1.0 - look.tint * (1.0 - c) for c in look.color])
    words: Words = {"int_ior": look.index, "specular_transmittance": through}
    if look.roughness > 0:
        return {"type": "roughdielectric", "alpha": look.roughness, **words}
    return {"type": "dielectric", **words}


def medium_words(look: Look, size: float) -> Words | None:
    """The medium within, in a body of this size (m); None for opaque looks.

    Absorption per metre is −ln(color) over the depth (Beer and Lambert).
    """
    if look.depth is None or look.thin:
        return None
    depth = look.depth * size
    absorption = [-math.log(c) / depth for c in look.color]
    scattering = look.milk / depth
    extinction = [a + scattering for a in absorption]
    most = max(extinction)  # Mitsuba takes colours up to 1, and a factor
    return {
        "type": "homogeneous",
        "sigma_t": rgb([e / most for e in extinction]),
        "scale": most,
        "albedo": rgb([scattering / e for e in extinction]),
        "phase": {"type": "hg", "g": FORWARD},
    }


def glow_words(look: Look) -> Words | None:
    """Light that the surface sends out (an emitter)."""
    return None if look.glow is None else {"type": "area", "radiance": rgb(look.glow)}


def _opaque(look: Look) -> Words:
    skin = {
        "type": "principled",
        "base_color": rgb(look.color),
        "roughness": max(look.roughness, 0.05),
        "specular": 0.5,
        "flatness": look.flatness,
        "clearcoat": look.coat,
        "clearcoat_gloss": 0.9,
    }
    return {"type": "twosided", "skin": skin}
