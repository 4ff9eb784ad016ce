"""The program: all commands under one name.

Commands are thin: each reads its arguments and calls what does the work. What a command needs is
imported inside it, so that `viscoil --help` answers at once.
"""

from collections.abc import Callable

from cyclopts import App

from viscoil.cli.exporting import export
from viscoil.cli.importing import import_
from viscoil.cli.inspecting import info, plot, video
from viscoil.cli.messages import materials, rheometer, scenes, schema
from viscoil.cli.rendering import render
from viscoil.cli.simulating import check, run
from viscoil.cli.surfacing import mesh


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

COMMANDS: tuple[Callable[..., None], ...] = (
    *(run, check, info, mesh, render, video, export, plot),
    *(scenes, materials, rheometer, schema),
)
for command in COMMANDS:
    app.command(command)
app.command(import_, name="import")
