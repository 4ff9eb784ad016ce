"""From light to the numbers of a picture file."""

import numpy as np

from viscoil.snapshots.snapshot import Array

EXPOSURE = 0.65


def developed(radiance: Array) -> Array:
    """A picture (height, width, 3) uint8 of linear light: a filmic curve, then sRGB.

    The curve is Narkowicz's fit (2015) to the ACES tone curve: a soft toe, and highlights that fade to
    white instead of being cut off. It is applied to each colour.
    """
    light = EXPOSURE * np.maximum(radiance, 0.0).astype(np.float64)
    curve = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14)
    return np.rint(255.0 * encoded(np.clip(curve, 0.0, 1.0))).astype(np.uint8)


def encoded(linear: Array) -> Array:
    """The sRGB transfer function (IEC 61966-2-1) of numbers in 0..1."""
    bright = 1.055 * np.power(linear, 1.0 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, 12.92 * linear, bright)
