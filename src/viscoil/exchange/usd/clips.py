"""Files of frames, played one after another by a stage: USD's value clips."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viscoil.exchange.usd import library as usd
from viscoil.exchange.usd.values import prim_of


@dataclass(frozen=True)
class Clips:
    """The values of a prim, and of all below it, at the frames that have a file."""

    prim: str
    files: Mapping[int, Path]
    """Frame to file, ascending; all in the folder of the stage."""
    manifest: Path
    """Says which attributes the files hold, so that not all of them must be looked through."""

    def write_manifest(self, stage_layer: Any) -> set[str]:
        """Writes the manifest and adds to the stage what is the same in all frames.

        Clips only give values: prims, types, and interpolation must be in the stage. Returns the
        paths of the attributes that change.
        """
        manifest = usd.Sdf.Layer.CreateAnonymous(".usda")
        with usd.Sdf.ChangeBlock():
            for path in self.files.values():
                _merge(usd.opened(path), stage_layer, manifest)
        usd.save(manifest, self.manifest)
        return _attribute_paths(manifest)

    def attach(self, stage_layer: Any) -> None:
        """Tells the stage of the files; between them, and where one is missing, USD interpolates."""
        sdf, vt = usd.Sdf, usd.Vt
        frames = list(self.files)
        assets = [sdf.AssetPath(f"./{path.name}") for path in self.files.values()]
        stage_layer.GetPrimAtPath(self.prim).SetInfo(
            "clips",
            {
                "default": {
                    "assetPaths": sdf.AssetPathArray(assets),
                    "primPath": self.prim,
                    "active": vt.Vec2dArray([(f, i) for i, f in enumerate(frames)]),
                    "times": vt.Vec2dArray([(f, f) for f in frames]),
                    "manifestAssetPath": sdf.AssetPath(f"./{self.manifest.name}"),
                }
            },
        )


def _merge(frame: Any, stage: Any, manifest: Any) -> None:
    """Adds the prims and attributes of a frame, where they are not there already."""

    def visit(path: Any) -> None:
        if path.IsPrimPath():
            _merge_prim(frame.GetPrimAtPath(path), stage)
        elif path.IsPrimPropertyPath():
            source = frame.GetAttributeAtPath(path)
            _merge_attribute(source, stage)
            if source.HasInfo("timeSamples"):
                _merge_attribute(source, manifest)

    # the walk is from the leaves to the root, so that prims come with their attributes
    frame.Traverse(usd.Sdf.Path.absoluteRootPath, visit)


def _merge_prim(source: Any, stage: Any) -> None:
    if source.specifier != usd.Sdf.SpecifierDef:
        return
    prim = prim_of(stage, str(source.path), source.typeName)
    prim.customData = dict(source.customData)
    if source.HasInfo("displayName"):
        prim.SetInfo("displayName", source.GetInfo("displayName"))


def _merge_attribute(source: Any, target: Any) -> None:
    if target.GetAttributeAtPath(source.path):
        return
    sdf = usd.Sdf
    prim = sdf.CreatePrimInLayer(target, source.path.GetPrimPath())
    spec = sdf.AttributeSpec(prim, source.name, source.typeName, source.variability)
    if source.HasInfo("interpolation"):
        spec.SetInfo("interpolation", source.GetInfo("interpolation"))
    if source.HasDefaultValue():
        spec.default = source.default


def _attribute_paths(layer: Any) -> set[str]:
    found: list[Any] = []
    layer.Traverse(usd.Sdf.Path.absoluteRootPath, found.append)
    return {str(path) for path in found if path.IsPrimPropertyPath()}
