"""Commands that take a scene: run it, or say what is wrong with it."""

from pathlib import Path

from viscoil.cli.arguments import Arch, Count, Flag, Overrides, SceneName


def run(
    scene: SceneName,
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


def check(
    scene: SceneName,
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
