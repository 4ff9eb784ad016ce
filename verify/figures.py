"""What verification leaves behind: printed figures, a table of them, and pictures."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from viscoil.outputs.png import write_png
from viscoil.preview import Camera, render
from viscoil.scene import Scene
from viscoil.snapshots.snapshot import Snapshot

FOLDER = Path(__file__).parent.parent / "build" / "verify"


def report(name: str, value: float, bar: str) -> None:
    """Prints a measured figure beside its bar, and keeps it."""
    print(f"\n{name}: {value:.6g} ({bar})")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "figures.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps({"name": name, "value": value, "bar": bar}) + "\n")


def picture(name: str, scene: Scene, snapshot: Snapshot) -> None:
    """Renders a frame to build/verify/NAME.png."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    camera = Camera.frame_scene(scene, aspect=960 / 540)
    write_png(FOLDER / f"{name}.png", render(snapshot, camera))


def by_id(snapshot: Snapshot, channel: str = "position") -> np.ndarray:
    """A channel in the order of the particles' ids."""
    order = np.argsort(snapshot.channels["id"])
    return np.asarray(snapshot.channels[channel][order], dtype=np.float64)


def cube(material: str, side: int, spacing: float, lowest: float, **more: Any) -> dict[str, Any]:
    """A fluid of side³ particles whose lower face is at the height `lowest`."""
    edge = side * spacing
    center = [0.0, lowest + 0.5 * edge, 0.0]
    shape = {"shape": "box", "center": center, "size": [edge, edge, edge]}
    return {"material": material, **shape, **more}
