"""What materials and solids look like: a table, and a rule for what is not in it.

Distances inside a material are told in sizes of the body, so that a look is the same for a spoon of
honey and for a lake of it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from viscoil.core.errors import ViscoilError
from viscoil.core.names import unknown_name
from viscoil.sampling.amounts import emitted_volume, starting_particles
from viscoil.scene import PRESETS, Scene
from viscoil.snapshots.snapshot import MaterialLook

Color = tuple[float, float, float]


@dataclass(frozen=True)
class Look:
    """How light meets a material: see-through if it has a `depth`, else opaque."""

    color: Color
    """Linear RGB: of white light after `depth`, or the reflectance of an opaque surface."""
    depth: float | None = None
    """Path length over which white light takes on `color`, in sizes of the body."""
    milk: float = 0.0
    """Mean number of scattering events over `depth`; 0 is clear."""
    tint: float = 0.0
    """Share of the colour that even a thin film has, 0..1."""
    index: float = 1.45
    """Index of refraction."""
    roughness: float = 0.0
    """Of the surface, 0..1."""
    flatness: float = 0.0
    """How much an opaque material's shadows are lightened, as if light came through it, 0..1."""
    coat: float = 0.0
    """A wet film on an opaque material, 0..1."""
    glow: Color | None = None
    """Emitted light, linear RGB."""
    thin: bool = False
    """A pane without thickness, which does not bend light."""


LOOKS: Mapping[str, Look] = {
    "water": Look((0.55, 0.83, 0.92), depth=3.0, index=1.33),
    "olive-oil": Look((0.62, 0.58, 0.06), depth=1.2, tint=0.1, index=1.47),
    "honey": Look((0.95, 0.53, 0.04), depth=0.8, milk=0.5, tint=0.3, index=1.49),
    "syrup": Look((0.72, 0.27, 0.04), depth=0.8, milk=0.1, tint=0.25, index=1.48),
    "ketchup": Look((0.42, 0.016, 0.008), roughness=0.32, flatness=0.2, coat=0.4),
    "toothpaste": Look((0.5, 0.78, 0.76), roughness=0.25, flatness=0.3, coat=0.4),
    "thick-cream": Look((0.8, 0.73, 0.6), roughness=0.45, flatness=0.5),
    "runny-cream": Look((0.78, 0.69, 0.53), roughness=0.3, flatness=0.5, coat=0.3),
    "melted-chocolate": Look((0.05, 0.016, 0.007), roughness=0.25, coat=0.5),
    "dough": Look((0.68, 0.46, 0.22), roughness=0.6, flatness=0.4),
    "gel": Look((0.82, 0.04, 0.09), depth=0.8, milk=0.1, tint=0.1, index=1.36),
    "egg-white": Look((0.93, 0.9, 0.55), depth=2.0, milk=0.3, index=1.36),
    "lava": Look((0.45, 0.11, 0.02), roughness=0.5, glow=(0.75, 0.06, 0.004)),
    # for --look, and for solids
    "glass": Look((0.93, 0.97, 0.95), depth=1.0, index=1.5),
    "clay": Look((0.55, 0.54, 0.52), roughness=0.5),
    "china": Look((0.8, 0.8, 0.79), roughness=0.15, coat=0.3),
    "waffle": Look((0.6, 0.29, 0.07), roughness=0.55, flatness=0.5),
    "wood": Look((0.36, 0.2, 0.1), roughness=0.4),
    "pane": Look((0.97, 0.99, 0.98), depth=1.0, index=1.5, thin=True),
}

SOLIDS: Mapping[str, str] = {
    "builtin:wine-glass": "glass",
    "builtin:wine-glass-thin": "pane",
    "builtin:bottle": "glass",
    "builtin:bowl": "pane",
    "builtin:cup": "china",
    "builtin:pot": "china",
    "builtin:boat": "wood",
    "builtin:plank": "wood",
    "builtin:paddle-wheel": "wood",
    "builtin:waffle": "waffle",
}
"""Looks of built-in meshes; other solids are of clay."""


def material_look(material: MaterialLook) -> Look:
    """The look of a material: that of the preset that it is named after or coloured like, or its own.

    A scene keeps the numbers of a preset and not its name, so a preset is known by its colour.
    """
    if material.name in PRESETS and _is_like(material, material.name):
        return LOOKS[material.name]
    for name in PRESETS:
        if _is_like(material, name):
            return LOOKS[name]
    return custom_look(material.color, material.transmission)


def custom_look(color: Color, transmission: float) -> Look:
    """A look from colour and transmission: opaque, cloudy, or clear like coloured water."""
    if transmission < 0.05:
        return Look(color, roughness=0.3, flatness=0.5, coat=0.3)
    return Look(
        _clamped(color),
        depth=0.4 + 2.4 * transmission**2,
        milk=2.0 * (1.0 - transmission) ** 2,
        tint=0.25 * (1.0 - transmission),
        index=1.4,
    )


def fluid_size(scene: Scene, material: str) -> float | None:
    """Edge of a cube with the volume of the largest body of a material, m; None if there is none.

    It comes from the scene and not from the particles, so that colours stay while a jar is filled.
    """
    duration = scene.frames / scene.simulation.fps
    fluids = [f for f in scene.fluids if f.material == material]
    spacings = [scene.spacing_of(f) for f in fluids]
    volumes = [starting_particles(f, d) * d**3 for f, d in zip(fluids, spacings, strict=True)]
    volumes += [emitted_volume(e, duration) for e in scene.emitters if e.material == material]
    largest = max(volumes, default=0.0)
    return largest ** (1 / 3) if largest > 0 else None


def solid_look(file: str, holds_fluid: bool) -> Look:
    """The look of a mesh from a file; `holds_fluid` says that the fluid is inside."""
    if file in SOLIDS:
        return LOOKS[SOLIDS[file]]
    return LOOKS["pane" if holds_fluid else "clay"]


def chosen_looks(texts: Iterable[str], things: Sequence[str]) -> dict[str, Look]:
    """What `--look cold-honey=syrup` asks for; `things` may be given a look.

    Raises ViscoilError for text of another form, or names that are not known.
    """
    chosen = {}
    for text in texts:
        thing, equals, name = (part.strip() for part in text.partition("="))
        if not (thing and equals and name):
            raise ViscoilError(
                f"--look {text!r} is not of the form MATERIAL=LOOK, such as honey=syrup"
            )
        if thing not in things:
            raise ViscoilError(f"--look: {thing!r} {unknown_name('material', thing, things)}")
        if name not in LOOKS:
            raise ViscoilError(f"--look: {name!r} {unknown_name('look', name, LOOKS)}")
        chosen[thing] = LOOKS[name]
    return chosen


def as_pane(look: Look) -> Look:
    """The look on a surface that encloses nothing, where a material cannot have a depth."""
    return replace(look, thin=True) if look.depth is not None else look


def _is_like(material: MaterialLook, preset: str) -> bool:
    values = PRESETS[preset].values
    return tuple(values["color"]) == tuple(material.color) and (
        values["transmission"] == material.transmission
    )


def _clamped(color: Color) -> Color:
    """Each channel kept off 0, which would absorb all light, and off 1, which would absorb none."""
    red, green, blue = (min(max(c, 0.02), 0.98) for c in color)
    return red, green, blue
