"""What mkdocs builds the site from: the pages of the repository, and one for each name of the Python API.

Pages keep the paths that they have in the repository, so that a link such as ../README.md works on
the site as it does where the files are read.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "viscoil"
# What scripts meet without importing it, and what packages of their own derive from.
MET = (
    "particles.views.ChannelView",
    "runs.statistics.Statistics",
    "snapshots.snapshot.Snapshot",
    "simulation.material_change.MaterialChange",
    "solvers.protocol.Solver",
    "forces.protocol.Force",
)
MODELS = "Scene models"
MODELS_HEADING = """\
# Scene models

What scenes are made of, by `from viscoil.scene import ...`: frozen, checked, with the keys of the
[scene reference](../docs/scene-reference.md).
"""
FRONT_PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "RELEASING.md")
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Adds the Python API to the navigation, before the section on the project."""
    assert config.nav is not None
    pages = [{name: _reference(name)} for name in reference_pages()]
    config.nav.insert(-1, {"Python": pages})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Puts the pages where they are in the repository, beside the theme's own files."""
    for file in list(files):
        if file.src_dir == config.docs_dir:
            files.remove(file)
    for path in published():
        uri = path.relative_to(ROOT).as_posix()
        files.append(File.generated(config, uri, abs_src_path=str(path)))
    for name, content in reference_pages().items():
        files.append(File.generated(config, _reference(name), content=content))
    return files


def reference_pages() -> dict[str, str]:
    """The pages on the Python API by their titles, as mkdocstrings reads them."""
    public = public_names(SOURCE)
    pages = {name: f"::: viscoil.{name}\n" for name in public}
    pages |= {path.rpartition(".")[2]: f"::: viscoil.{path}\n" for path in MET}
    models = [name for name in public_names(SOURCE / "scene") if name not in public]
    entries = [f"::: viscoil.scene.{name}\n    options: {{heading_level: 2}}\n" for name in models]
    return {**pages, MODELS: "\n".join([MODELS_HEADING, *entries])}


def published() -> list[Path]:
    """All files of docs, the pages beside it, and whatever else of the repository they link to."""
    pages = [*(ROOT / name for name in FRONT_PAGES), *ROOT.glob("docs/*.md")]
    files = {path for path in ROOT.glob("docs/**/*") if path.is_file()}
    return sorted(files.union(pages, *map(linked_files, pages)))


def linked_files(page: Path) -> Iterator[Path]:
    """Files that a page links to, such as the source of a module; what is not there, mkdocs tells."""
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        path = (page.parent / link).resolve()
        if path.is_file() and path.is_relative_to(ROOT):
            yield path


def public_names(package: Path) -> list[str]:
    """`__all__` of the package in a folder, read without importing it."""
    for statement in ast.parse((package / "__init__.py").read_text(encoding="utf-8")).body:
        match statement:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=value):
                return list(ast.literal_eval(value))
    raise ValueError(f"{package} has no __all__")


def _reference(name: str) -> str:
    return f"python/{name.replace(' ', '-')}.md"
