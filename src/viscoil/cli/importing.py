"""Commands that take in scenes of other programs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from viscoil.cli.arguments import Flag
from viscoil.core.commands import command

ScenePath = Annotated[Path, Parameter(name="scene", show_default=False)]


def import_(
    scene: ScenePath,
    /,
    *,
    out: Path | None = None,
    check: Flag = False,
    overwrite: Flag = False,
) -> None:
    """Turn a scene of SPlisHSPlasH (.json) into a scene file, and list what is not carried over.

    Parameters
    ----------
    scene
        The JSON file; meshes and particle files are found from where it is.
    out
        Scene file to write (default: the scene's name with .toml, in this folder).
    check
        Only say what would be carried over; write nothing.
    overwrite
        Replace a scene file, and meshes beside it, that are there already.
    """
    from viscoil.core.errors import SceneError
    from viscoil.core.files import check_free, write_whole
    from viscoil.exchange.imported_geometry import FileGeometry
    from viscoil.scene import Scene
    from viscoil.scene.importers.splishsplash import import_scene

    target = out or Path(f"{scene.stem}.toml")
    if target.suffix != ".toml":
        raise SceneError(f"{target} is no name for a scene file: let it end in .toml")
    check_free(target, check or overwrite)
    geometry = FileGeometry(target)
    imported = import_scene(scene, geometry)
    text = imported.to_toml()
    Scene.from_toml(text, str(target))
    for line in imported.lost:
        print(f"not carried over: {line}")
    if check:
        print(f"{scene} can be imported: leave out --check to write {target}")
        return
    copies = geometry.write(overwrite)
    with write_whole(target) as file:
        file.write(text.encode("utf-8"))
    more = f", with {len(copies)} meshes in {copies[0].parent}" if copies else ""
    check_it, run_it = command("check", target), command("run", target)
    print(f"{target} is written{more}: try `{check_it}`, then `{run_it}`")
