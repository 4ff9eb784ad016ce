"""What the listing commands print: plain text, one thing a line, fit for other programs."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from viscoil.core.errors import SceneError
from viscoil.scene import PRESETS, Material, Scene, builtin_scenes

if TYPE_CHECKING:
    from collections.abc import Iterable


def scene_lines() -> Iterator[str]:
    """Name and description of each built-in scene."""
    names = builtin_scenes()
    width = max(map(len, names))
    for name in names:
        yield f"{name:<{width}}  {Scene.load(name).simulation.description}"


def material_lines() -> Iterator[str]:
    """Name, numbers, description and source of each preset."""
    width = max(map(len, PRESETS))
    for name, preset in sorted(PRESETS.items()):
        numbers = _numbers(Material.from_preset(name))
        yield f"{name:<{width}}  {numbers}"
        yield f"{'':<{width}}  {preset.description} Source: {preset.source}."


def _numbers(material: Material) -> str:
    parts = [f"{material.density:g} kg/m³"]
    if material.kind in ("viscoelastic", "elastic"):
        parts.append(f"modulus {material.modulus:g} Pa")
        parts.append(f"relaxation time {material.relaxation_time:g} s")
    else:
        parts.append(f"viscosity {material.viscosity:g} Pa s")
    if material.solvent_viscosity > 0:
        parts.append(f"solvent viscosity {material.solvent_viscosity:g} Pa s")
    return f"{', '.join(parts)} ({material.kind})"


def scene_summary(scene: Scene) -> str:
    """A few lines on what a good scene would do; raises SceneError if it would do nothing."""
    if not scene.fluids and not scene.emitters:
        raise SceneError(f"{scene.name} has no fluid: add [[fluids]] or [[emitters]]")
    settings = scene.simulation
    seconds = scene.frames / settings.fps
    step = settings.time_step
    step_text = f"{step:g} s" if step else f"adaptive, at most {settings.max_time_step:g} s"
    return "\n".join(
        [
            f"{scene.name}: ok",
            f"  {scene.frames} frames at {settings.fps:g} per second ({seconds:g} s)",
            f"  particle spacing {settings.spacing:g} m, time step {step_text}",
            f"  {_counts(scene)}",
            *(f"  material {name}: {_numbers(m)}" for name, m in scene.materials.items()),
        ]
    )


def start_lines(scene: Scene) -> Iterator[str]:
    """How the scene would start; raises SceneError if fluids are in each other's way."""
    from viscoil.colliders import ColliderSet
    from viscoil.sampling.seeding import seed

    colliders = ColliderSet.of(scene)
    _open_all(scene)
    start = seed(scene, colliders)
    yield f"  {len(start.position)} particles at the start"
    for note in start.notes:
        yield f"  note: {note}"


def _open_all(scene: Scene) -> None:
    """Raises SceneError for what only a run would find in the meshes of a scene."""
    from viscoil.bodies import mass_properties
    from viscoil.emitters.mesh_emitters import MeshEmitter
    from viscoil.geometry.mesh_source import open_source

    for spec in scene.colliders:
        if getattr(spec, "dynamic", False):
            mass_properties(spec)
    for emitter in scene.emitters:
        if emitter.shape == "mesh":
            MeshEmitter(emitter, 0, scene.spacing_of(emitter), 0)
    for kill in scene.kill:
        if kill.shape == "mesh":
            open_source(kill.file)


def _counts(scene: Scene) -> str:
    groups: Iterable[tuple[str, int]] = (
        ("body of fluid|bodies of fluid", len(scene.fluids)),
        ("emitter|emitters", len(scene.emitters)),
        ("collider|colliders", len(scene.colliders)),
    )
    return ", ".join(f"{n} {words.split('|')[n != 1]}" for words, n in groups)
