"""Commands that take a scene: run it, or say what is wrong with it."""

from pathlib import Path

from viscoil.cli.arguments import (
    Arch,
    AtLeastTwo,
    Count,
    Flag,
    Overrides,
    SceneName,
    Size,
    Threads,
)


def run(
    scene: SceneName,
    /,
    *,
    overrides: Overrides | None = None,
    frames: Count | None = None,
    until: str | None = None,
    out: Path | None = None,
    threads: Threads | None = None,
    arch: Arch = "cpu",
    resume: Flag = False,
    force: Flag = False,
    overwrite: Flag = False,
    checkpoint_seconds: Size = 30.0,
    checkpoint_frames: Count | None = None,
    keep_checkpoints: AtLeastTwo = 5,
    quiet: Flag = False,
) -> None:
    """Simulate a scene and write its frames, pictures and film.

    Parameters
    ----------
    frames
        Simulate this many frames instead of what the scene says.
    until
        Simulate until this time or frame instead, such as 3.5s, 2min or 105.
    out
        Folder to write to (default: runs/NAME).
    resume
        Go on from the last checkpoint in the folder, to the same bits.
    force
        Resume although the scene has changed or frames are missing, where the state still fits.
    overwrite
        Replace a run that is in the folder already.
    checkpoint_seconds
        Save the state after so many seconds of work, and when the run ends.
    checkpoint_frames
        Save the state after so many frames as well.
    keep_checkpoints
        Number of saved states that stay: the last two, and others spread over the run.
    quiet
        Print only the final line.
    """
    from viscoil.running import runner
    from viscoil.running.recording import CheckpointPlan
    from viscoil.running.until import asked_frames
    from viscoil.scene import Scene

    loaded = Scene.load(scene, overrides or ())
    runner.run(
        loaded, out, resume=resume, overwrite=overwrite, force=force, quiet=quiet,
        frames=asked_frames(frames, until, loaded.simulation.fps),
        checkpoints=CheckpointPlan(checkpoint_seconds, checkpoint_frames, keep_checkpoints),
        arch=arch, threads=threads,
    )  # fmt: skip


def check(
    scene: SceneName,
    /,
    *,
    overrides: Overrides | None = None,
) -> None:
    """Say what is wrong with a scene, where, and what was probably meant."""
    from viscoil.cli.listings import scene_summary, start_lines
    from viscoil.scene import Scene
    from viscoil.simulation import memory_need

    checked = Scene.load(scene, overrides or ())
    summary = scene_summary(checked)
    memory_need.check(checked)
    print("\n".join([summary, *start_lines(checked)]))
