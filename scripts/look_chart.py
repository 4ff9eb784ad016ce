"""Draws a rabbit of every preset with `viscoil render`'s looks: look_chart.py OUT.png [SAMPLES]."""

import sys
from tempfile import TemporaryDirectory

from readme_pictures import halved

from viscoil.colliders import ColliderSet
from viscoil.outputs.frames import FramesOutput
from viscoil.outputs.png import write_png
from viscoil.render.pictures import PictureSettings, Studio, View
from viscoil.runs.folder import RunFolder
from viscoil.runs.run import Run
from viscoil.sampling.seeding import seed
from viscoil.scene import PRESETS, Scene
from viscoil.snapshots.snapshot import Snapshot

SPACING = 0.0018  # m
HIGH = 0.065  # m, of a rabbit
PITCH, ROW = 0.07, 0.075  # m, from rabbit to rabbit and from row to row
SIZE = (1200, 480)  # pixels, before it is halved


def scene() -> Scene:
    """Rabbits in two rows, those behind in the gaps of those in front."""
    text = f"[simulation]\nspacing = {SPACING}\nframes = 1\n[[colliders]]\nshape = 'plane'\n"
    front = len(PRESETS) // 2
    for i, name in enumerate(sorted(PRESETS)):
        behind = i >= front
        count = len(PRESETS) - front if behind else front
        x = (i - front * behind - 0.5 * (count - 1)) * PITCH
        text += (
            f"[[fluids]]\nmaterial = '{name}'\nshape = 'mesh'\nfile = 'builtin:bunny'\n"
            f"scale = {HIGH}\ncenter = [{x}, 0.001, {-ROW * behind}]\n"
            "rotation = { axis = [0.0, 1.0, 0.0], angle = -0.6 }\n"
        )
    text += "[camera]\nposition = [0.0, 0.3, 0.62]\ntarget = [0.0, 0.026, -0.035]\nfov = 0.27\n"
    return Scene.from_toml(text)


def main() -> int:
    """Write a run of one frame, and draw it."""
    out, samples = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 16
    chart = scene()
    start = seed(chart, ColliderSet.of(chart))
    channels = {"position": start.position, "material": start.material}
    with TemporaryDirectory() as folder:
        place = RunFolder(folder)
        place.write_run(chart.to_toml(), "cpu", 1)
        output = FramesOutput(place.frames, tuple(channels))
        output.frame(Snapshot(0, 0.0, channels, (), (), SPACING))
        studio = Studio(Run(folder), PictureSettings(*SIZE, samples, {}))
        write_png(out, halved(studio.picture(View(0))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
