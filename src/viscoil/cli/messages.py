"""Commands that tell what is built in, and what a material does."""

from typing import Annotated

from cyclopts import Parameter

from viscoil.cli.arguments import Arch, Size, Threads


def scenes() -> None:
    """List the built-in scenes."""
    from viscoil.cli.listings import scene_lines

    print("\n".join(scene_lines()))


def materials() -> None:
    """List the material presets and where their numbers come from."""
    from viscoil.cli.listings import material_lines

    print("\n".join(material_lines()))


def rheometer(
    material: Annotated[str, Parameter(name="material", show_default=False)],
    /,
    *,
    spacing: Size | None = None,
    time_step: Size | None = None,
    threads: Threads | None = None,
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
    """
    from viscoil.core import compute
    from viscoil.core.errors import ViscoilError
    from viscoil.core.names import unknown_name
    from viscoil.rheology import measure
    from viscoil.scene import PRESETS, Material

    if material not in PRESETS:
        raise ViscoilError(f"{material!r} {unknown_name('preset', material, PRESETS)}")
    substance = Material.from_preset(material)
    compute.initialize(arch, threads)
    print(measure(substance, spacing=spacing, time_step=time_step))


def schema() -> None:
    """Print the JSON Schema of scene files, for editors."""
    import json

    from viscoil.scene import Scene

    print(json.dumps(Scene.json_schema(), indent=2, ensure_ascii=False))
