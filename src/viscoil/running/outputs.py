"""The outputs that a scene asks for."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from viscoil.outputs.protocol import Output
    from viscoil.runs.folder import RunFolder


def check_outputs(scene: Any) -> None:
    """Raises MissingExtraError if an export needs a library that is not here.

    To be asked before an earlier run is removed or a long one starts.
    """
    from viscoil.exchange.registry import find_format

    for spec in scene.outputs:
        if spec.type == "export":
            find_format(spec.format).prepare()


def create_outputs(scene: Any, folder: "RunFolder") -> "list[Output]":
    """The outputs that a scene asks for, statistics first, ready to be fed.

    A video is made of the preview's pictures, so it brings the preview along.
    """
    from viscoil.outputs.frames import FramesOutput
    from viscoil.outputs.stats import StatsOutput
    from viscoil.outputs.video import VideoOutput

    outputs: list[Output] = [StatsOutput(folder.stats)]
    outputs += [
        FramesOutput(folder.frames, spec.channels)
        for spec in scene.outputs
        if spec.type == "frames"
    ]
    types = {spec.type for spec in scene.outputs}
    if types & {"preview", "video"}:
        outputs.append(_preview(scene, folder))
    if "colliders" in types:
        outputs.append(_collider_fields(folder))
    outputs += [_export(scene, folder, spec) for spec in scene.outputs if spec.type == "export"]
    if "video" in types:
        outputs.append(VideoOutput(folder.pictures, folder.video, scene.simulation.fps))
    return outputs


def _collider_fields(folder: "RunFolder") -> "Output":
    from viscoil.outputs.collider_fields import ColliderFieldsOutput

    return ColliderFieldsOutput(folder.colliders)


def _export(scene: Any, folder: "RunFolder", spec: Any) -> "Output":
    from viscoil.exchange.live import ExportOutput
    from viscoil.exchange.registry import find_format

    form = find_format(spec.format)
    return ExportOutput(folder.exports / form.name, form, scene, spec.channels)


def _preview(scene: Any, folder: "RunFolder") -> "Output":
    from viscoil.preview.camera import Camera, picture_size
    from viscoil.preview.output import PreviewOutput

    width, height = picture_size(scene)
    camera = Camera.frame_scene(scene)
    return PreviewOutput(folder.pictures, folder.picture, camera, width, height)
