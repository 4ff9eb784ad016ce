"""What `viscoil` offers, and that looking at it costs nothing."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import viscoil

PACKAGE = Path(viscoil.__file__).parent
MODULES = sorted(
    ".".join(("viscoil", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py"
)


def test_what_is_exported() -> None:
    assert viscoil.__all__ == ["Material", "Scene", "Simulation", "ViscoilError"]
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
    assert {"viscoil", "viscoil.scene", "viscoil.solvers.dcpbd", "viscoil.cli.app"} <= set(MODULES)


def test_import_is_light() -> None:
    """Also of what a user touches before anything is simulated."""
    code = (
        "import sys, viscoil, viscoil.cli.app\n"
        "from viscoil import Material, Scene, ViscoilError\n"
        "print(*sorted({'quadrants', 'numpy', 'matplotlib', 'scipy'} & sys.modules.keys()))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == ""


def test_every_module_says_what_it_is_for() -> None:
    silent = [name for name in MODULES if not importlib.import_module(name).__doc__]
    assert silent == ["viscoil.constraints", "viscoil.solvers"]  # folders of methods
