"""The command that makes beauty pictures."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from viscoil.cli.arguments import ALL_FRAMES, Count, Flag, FrameWork, RunPath, Size
from viscoil.core.commands import command
from viscoil.core.progress import counted

if TYPE_CHECKING:
    from viscoil.render.pictures import Studio
    from viscoil.runs.run import Run

LooksText = Annotated[list[str], Parameter(name="--look", negative="")]
Views = Annotated[int, Parameter(validator=Number(gte=2, lte=10000))]

SAMPLES, DRAFT_SAMPLES = 64, 4


def render(
    run: RunPath,
    /,
    *,
    draft: Flag = False,
    samples: Count | None = None,
    size: str | None = None,
    zoom: Size = 1.0,
    turntable: Views | None = None,
    look: LooksText | None = None,
    work: FrameWork = ALL_FRAMES,
) -> None:
    """Make pictures of a run with glass, cream and light as an artist wants them.

    Parameters
    ----------
    draft
        Take 4 samples a pixel instead of 64: seconds instead of a minute.
    samples
        Samples a pixel.
    size
        Width and height in pixels, such as 1920x1080 (default: what the scene's camera says).
    zoom
        Show things this many times larger than the scene's camera does.
    turntable
        Make this many pictures of one frame, the last unless --frames names it, from all around.
    look
        Give a material another look, such as honey=syrup, or a collider, as colliders.0=glass.
    work.out
        Folder to write to (default: RUN/render, or RUN/turntable_FRAME).
    work.overwrite
        Make pictures again that are there already.
    """
    from viscoil.runs.run import Run

    opened = Run(run)
    count = samples or (DRAFT_SAMPLES if draft else SAMPLES)
    studio = _studio(opened, size, count, look or [], zoom)
    chosen = opened.select(work.frames or ("-1" if turntable else None))
    _draw(studio, chosen, turntable, work)


def _studio(run: "Run", size: str | None, samples: int, looks: list[str], zoom: float) -> "Studio":
    """What makes the pictures that a user asks for."""
    from viscoil.render.pictures import PictureSettings, Studio
    from viscoil.render.solids import collider_name
    from viscoil.snapshots.looks import chosen_looks

    width, height = picture_dimensions(run, size)
    colliders = [collider_name(i) for i in range(len(run.scene.colliders))]
    chosen = chosen_looks(looks, [*run.scene.materials, *colliders])
    return Studio(run, PictureSettings(width, height, samples, chosen, zoom))


def _draw(studio: "Studio", frames: list[int], turntable: int | None, work: FrameWork) -> None:
    """Makes the pictures, and tells how many and where."""
    from viscoil.render.pictures import render_frames, render_turntable
    from viscoil.runs.folder import film_of

    how = {"overwrite": work.overwrite, "quiet": work.quiet}
    if turntable is not None:
        _check_single(frames)
    usual = "render" if turntable is None else f"turntable_{frames[0]:06d}"
    folder = work.out or studio.run.path / usual
    film = film_of(studio.run.path, folder)
    had_film = film.exists()
    _print_notes(studio, frames)
    if turntable is None:
        kept = render_frames(studio, frames, folder, **how)
    else:
        kept = render_turntable(studio, frames[0], turntable, folder, **how)
    if had_film and not film.exists():
        print(f"note: {film} showed the earlier pictures, and is gone with them")
    print(f"{counted(turntable or len(frames), 'picture', kept)}: {folder}/frame_*.png")
    name = "render" if folder == studio.run.path / "render" else str(folder)
    again = ["--overwrite"] if film.exists() else []
    print(f"Next: {command('video', studio.run.path, '--pictures', name, *again)}")


def picture_dimensions(run: "Run", text: str | None) -> tuple[int, int]:
    """Width and height in pixels from text such as 1280x720, or from the scene's camera."""
    from viscoil.core.errors import ViscoilError
    from viscoil.preview.camera import picture_size

    if text is None:
        return picture_size(run.scene)
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) == 2 and all(p.strip().isdecimal() and len(p) < 7 for p in parts):
        width, height = (int(p) for p in parts)
        if all(16 <= side <= 16384 for side in (width, height)):
            return width, height
    raise ViscoilError(
        f"--size {text!r} is no size: write width x height in pixels, 16 to 16384, such as 1280x720"
    )


def _check_single(frames: list[int]) -> None:
    from viscoil.core.errors import ViscoilError

    if len(frames) != 1:
        raise ViscoilError(
            f"a turntable shows one frame, and --frames names {len(frames)}: name one of them"
        )


def _print_notes(studio: "Studio", frames: list[int]) -> None:
    """Notes about what the pictures will lack, or take longer for."""
    from viscoil.render.solids import left_out
    from viscoil.render.tracing import denoiser_is_here
    from viscoil.surface.reconstruction import require_library

    bare = len(frames) - len(studio.surfaces(frames))
    if bare:
        require_library()
        print(
            f"note: {bare} of {len(frames)} frames have no surface yet, so it is made on the "
            f"way and not kept: `{command('mesh', studio.run.path)}` keeps it"
        )
    if not denoiser_is_here():
        print(
            "note: pyoidn is not here, so the pictures are not denoised: "
            "pip install 'viscoil[render]'"
        )
    for name in left_out(studio.run.snapshot(frames[0], ())):
        print(f"note: {name} is a level set without triangles, and is left out")
