"""Halves a picture of a run for the README: readme_picture.py runs/honey/preview.png OUT."""

import sys

import numpy as np

from viscoil.outputs.png import read_png, write_png


def main() -> int:
    """Average blocks of four pixels, which keeps the file small enough for the repository."""
    source, target = sys.argv[1:]
    picture = read_png(source).astype(np.float64)
    height, width = (side // 2 * 2 for side in picture.shape[:2])
    blocks = picture[:height, :width].reshape(height // 2, 2, width // 2, 2, 3)
    write_png(target, np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8))
    return 0


if __name__ == "__main__":
    sys.exit(main())
