"""What `viscoil` offers, and that looking at it costs nothing."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bars import above, below

import viscoil

PACKAGE = Path(viscoil.__file__).parent
ROOT = Path(__file__).parents[2]
MODULES = sorted(
    ".".join(("viscoil", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py"
)


def test_what_is_exported() -> None:
    assert viscoil.__all__ == [
        "DivergedError",
        "Material",
        "ResumeError",
        "Run",
        "RunError",
        "Scene",
        "SceneError",
        "Simulation",
        "Stopped",
        "ViscoilError",
        "run",
    ]
    assert dir(viscoil) == viscoil.__all__


@pytest.mark.parametrize("name", viscoil.__all__)
def test_every_exported_name_is_there(name: str) -> None:
    assert getattr(viscoil, name).__name__ == name


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Simulator'"):
        viscoil.Simulator  # noqa: B018


@pytest.mark.parametrize("module", MODULES)
def test_every_module_can_be_imported(module: str) -> None:
    importlib.import_module(module)


def test_all_modules_were_found() -> None:
    assert {"viscoil", "viscoil.scene", "viscoil.solvers.dcpbd.solver", "viscoil.cli.app"} <= set(
        MODULES
    )


def test_import_is_light() -> None:
    """Also of what a user touches before anything is simulated."""
    code = (
        "import sys, viscoil, viscoil.cli.app\n"
        "from viscoil import DivergedError, Material, Scene, SceneError, ViscoilError\n"
        "print(*sorted({'quadrants', 'numpy', 'matplotlib', 'scipy'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == ""


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        path.name
        for path in PACKAGE.rglob("*.py")
        if (text := path.read_text(encoding="utf-8")) and not ast.get_docstring(ast.parse(text))
    ]
    assert silent == []


def code_blocks(page: str, language: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.mark.physics
def test_the_first_scene_of_the_readme_runs(tmp_path: Path) -> None:
    """As a newcomer would: the TOML saved as a file, then the Python beside it."""
    (scene,) = code_blocks("README.md", "toml")
    (program,) = code_blocks("README.md", "python")
    assert len(scene.splitlines()) == 10
    (tmp_path / "drop.toml").write_text(scene, encoding="utf-8")
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    heights = [float(h) for h in re.findall(r"up to ([-.\d]+) cm", done.stdout)]
    assert len(heights) == 31
    # It starts with its top at 20 cm, less half a spacing, has fallen, and lies on the plane.
    assert 19.0 < heights[0] < 20.0
    above(heights[-1], 0.4, "height of the drop at the end, cm")
    below(heights[-1], 10.5, "height of the drop at the end, cm, at most")


PAGES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/*.md"))


@pytest.mark.parametrize("page", [*PAGES, "README.md", "CONTRIBUTING.md"])
def test_links_lead_somewhere(page: str) -> None:
    """Links to pages; pictures come from `make images`."""
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"(?<!!)\[[^]]*\]\((?!http)([^)#]+)", text)
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []
