"""The commands, thin: each reads its arguments and calls what does the work.

What a command needs is imported inside it, so that `viscoil --help` answers at once.
"""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import App, Parameter
from cyclopts.validators import Number

Arch = Literal["cpu", "cuda", "metal", "vulkan", "amdgpu"]
Count = Annotated[int, Parameter(validator=Number(gte=1))]
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
    from viscoil.cli.listings import scene_summary
    from viscoil.scene import Scene

    print(scene_summary(Scene.load(scene, overrides or ())))


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
def schema() -> None:
    """Print the JSON Schema of scene files, for editors."""
    import json

    from viscoil.scene import Scene

    print(json.dumps(Scene.json_schema(), indent=2, ensure_ascii=False))
