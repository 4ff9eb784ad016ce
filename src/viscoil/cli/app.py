"""The commands, thin: each reads its arguments and calls what does the work.

What a command needs is imported inside it, so that `viscoil --help` answers at once.
"""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

Arch = Literal["cpu", "cuda", "metal", "vulkan", "amdgpu"]
Count = Annotated[int, Parameter(validator=Number(gte=1))]
Size = Annotated[float, Parameter(validator=Number(gt=0))]
Overrides = Annotated[list[str], Parameter(name="--set", negative="")]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("viscoil")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "unknown"


app = App(
    name="viscoil",
    help="Simulate viscoelastic fluids with particles: honey, cream, dough, gel, lava and water.",
    version=_version,
)


@app.command
def run(
    scene: Annotated[str, Parameter(name="scene", show_default=False)],
    /,
    *,
    overrides: Overrides | None = None,
    frames: Count | None = None,
    out: Path | None = None,
    threads: Count | None = None,
    arch: Arch = "cpu",
    resume: Flag = False,
    overwrite: Flag = False,
    quiet: Flag = False,
) -> None:
    """Simulate a scene and write its frames, pictures and film.

    Parameters
    ----------
    scene
        A scene file (.toml), or the name of a built-in scene.
    overrides
        Change a value of the scene, such as --set simulation.spacing=0.01 (repeatable).
    frames
        Simulate this many frames instead of what the scene says.
    out
        Folder to write to (default: runs/NAME).
    threads
        Number of CPU threads (default: all cores).
    arch
        What computes.
    resume
        Go on from the last checkpoint in the folder.
    overwrite
        Replace a run that is in the folder already.
    quiet
        Print only the final line.
    """
    from viscoil import runner
    from viscoil.scene import Scene

    runner.run(
        Scene.load(scene, overrides or ()),
        out,
        frames=frames,
        resume=resume,
        overwrite=overwrite,
        quiet=quiet,
        arch=arch,
        threads=threads,
    )


@app.command
def check(
    scene: Annotated[str, Parameter(name="scene", show_default=False)],
    /,
    *,
    overrides: Overrides | None = None,
) -> None:
    """Say what is wrong with a scene, where, and what was probably meant.

    Parameters
    ----------
    scene
        A scene file (.toml), or the name of a built-in scene.
    overrides
        Change a value of the scene, such as --set simulation.spacing=0.01 (repeatable).
    """
    from viscoil import memory
    from viscoil.cli.listings import scene_summary, start_lines
    from viscoil.scene import Scene

    checked = Scene.load(scene, overrides or ())
    summary = scene_summary(checked)
    memory.check(checked)
    print("\n".join([summary, *start_lines(checked)]))


@app.command
def scenes() -> None:
    """List the built-in scenes."""
    from viscoil.cli.listings import scene_lines

    print("\n".join(scene_lines()))


@app.command
def materials() -> None:
    """List the material presets and where their numbers come from."""
    from viscoil.cli.listings import material_lines

    print("\n".join(material_lines()))


@app.command
def rheometer(
    material: Annotated[str, Parameter(name="material", show_default=False)],
    /,
    *,
    spacing: Size | None = None,
    time_step: Size | None = None,
    threads: Count | None = None,
    arch: Arch = "cpu",
) -> None:
    """Measure what a material preset does in the simulator, against what it asks for.

    Parameters
    ----------
    material
        The name of a preset; `viscoil materials` lists them.
    spacing
        Particle spacing in m, such as that of a scene (default: chosen for the material).
    time_step
        Time step in s (default: chosen for the material).
    threads
        Number of CPU threads (default: all cores).
    arch
        What computes.
    """
    from viscoil import compute
    from viscoil.errors import ViscoilError
    from viscoil.rheology import measure
    from viscoil.scene import PRESETS, Material
    from viscoil.scene.names import unknown_name

    if material not in PRESETS:
        raise ViscoilError(f"{material!r} {unknown_name('preset', material, PRESETS)}")
    substance = Material.from_preset(material)
    compute.initialize(arch, threads)
    print(measure(substance, spacing=spacing, time_step=time_step))


@app.command
def schema() -> None:
    """Print the JSON Schema of scene files, for editors."""
    import json

    from viscoil.scene import Scene

    print(json.dumps(Scene.json_schema(), indent=2, ensure_ascii=False))
