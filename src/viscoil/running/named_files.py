"""The files that a scene names: meshes, folders of meshes, level sets; whether they are the same."""

import glob
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from viscoil.core.files import reporting
from viscoil.scene import Scene


def fingerprints(scene: Scene) -> dict[str, str]:
    """A SHA-256 of the content of each file that the scene names, by its name there.

    A folder or pattern counts as all of its files. One that is not there has no fingerprint: what
    needs it will say so.
    """
    return {name: _fingerprint(paths) for name in _named(scene) if (paths := _paths_of(Path(name)))}


def changed_files(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Files whose content is not what it was, by name."""
    return [name for name in after if name in before and after[name] != before[name]]


def same_files(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, set[str]]:
    """Each file, and the names under which the same content was known before."""
    return {
        name: {earlier for earlier, content in before.items() if content == after[name]}
        for name in after
    }


def _named(scene: Scene) -> list[str]:
    items = (*scene.fluids, *scene.emitters, *scene.colliders, *scene.kill)
    files = (getattr(item, "file", None) for item in items)
    return sorted({f for f in files if f is not None and not f.startswith("builtin:")})


def _paths_of(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    found: Iterator[Path] = path.iterdir() if path.is_dir() else map(Path, glob.glob(str(path)))
    return sorted(p for p in found if p.is_file())


def _fingerprint(paths: list[Path]) -> str:
    whole = hashlib.sha256()
    for path in paths:
        with reporting(path), open(path, "rb") as file:
            part = hashlib.sha256()
            while block := file.read(2**20):
                part.update(block)
        whole.update(part.digest())
    return whole.hexdigest()
