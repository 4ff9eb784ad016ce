"""Pictures of one colour each, and films taken apart again."""

import subprocess
from pathlib import Path

import numpy as np

from viscoil.outputs import video
from viscoil.outputs.png import write_png

COLORS = ((200, 30, 30), (30, 180, 40), (40, 40, 210))


def draw(folder: Path, size: tuple[int, int] = (64, 48)) -> list[Path]:
    width, height = size
    paths = []
    for number, color in enumerate(COLORS):
        path = folder / f"frame_{number:06d}.png"
        write_png(path, np.full((height, width, 3), color, dtype=np.uint8))
        paths.append(path)
    return paths


def decode(path: Path, width: int, height: int) -> np.ndarray:
    command = [video._ffmpeg(), "-v", "error", "-i", str(path), "-f", "rawvideo"]
    raw = subprocess.run([*command, "-pix_fmt", "rgb24", "-"], capture_output=True, check=True)
    return np.frombuffer(raw.stdout, dtype=np.uint8).reshape(-1, height, width, 3)
