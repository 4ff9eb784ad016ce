"""What all tests share: the compute backend, and how hypothesis searches."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings
from openvdb_rigs import SYSTEM_PYTHON

if TYPE_CHECKING:
    from splish_rigs import Take

VULKAN_DRIVERS = Path("/usr/share/vulkan/icd.d")

# Compiling a kernel inside an example takes longer than any deadline. On a build server a failure
# must be the fault of the change under test, and not of the day's random numbers.
settings.register_profile("local", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "local")


def pytest_configure(config: pytest.Config) -> None:
    """Kernels that most tests call are compiled once, before several processes would each do it."""
    if getattr(config.option, "numprocesses", None):
        from compiled_ahead import compile_for_tests

        compile_for_tests()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests of a `method` run for each solver; those marked `physics` from each start, if asked to.

    VISCOIL_PERTURB=SEED,... asks; 0 is the start as it is written.
    """
    if "method" in metafunc.fixturenames:
        from toy_solver import TOY

        from viscoil.scene.solvers import settings_models

        metafunc.parametrize("method", [*settings_models(), TOY], indirect=True)
    seeds = os.environ.get("VISCOIL_PERTURB")
    if seeds is not None and metafunc.definition.get_closest_marker("physics"):
        starts = [int(seed) for seed in seeds.split(",")]
        metafunc.parametrize("start", starts, indirect=True, ids="start{}".format)


@pytest.fixture(autouse=True)
def start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The seed by which all particles start a little beside their places; 0 is as written."""
    seed = int(getattr(request, "param", 0))
    if seed:
        from bars import perturbed

        from viscoil.particles.store import Particles

        monkeypatch.setattr(Particles, "append", perturbed(Particles.append, seed))
    return seed


@pytest.fixture(scope="session")
def compute() -> None:
    """Starts the backend, once for all tests; results do not depend on the number of threads."""
    from viscoil.core.compute import initialize

    initialize("cpu", 2)


@pytest.fixture(scope="module")
def wcsph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The solver that CONTRIBUTING prints, known to scenes."""
    from toy_solver import saved_and_imported

    with saved_and_imported(tmp_path_factory.mktemp("solver")) as module:
        yield module


@pytest.fixture
def method(request: pytest.FixtureRequest) -> str:
    """The name of a solver: those of the program, and the one that CONTRIBUTING prints."""
    from toy_solver import TOY

    if request.param == TOY:
        request.getfixturevalue(TOY)
    return str(request.param)


@pytest.fixture(scope="session")
def software_vulkan() -> dict[str, str]:
    """The environment in which a new process sees a Vulkan driver that needs no GPU."""
    drivers = sorted(VULKAN_DRIVERS.glob("lvp_icd*.json"))
    if not drivers:
        pytest.skip("there is no software Vulkan driver (Debian package mesa-vulkan-drivers)")
    return {**os.environ, "VK_DRIVER_FILES": str(drivers[0]), "VK_ICD_FILENAMES": str(drivers[0])}


@pytest.fixture(scope="session")
def openvdb() -> None:
    """The system's Python has OpenVDB's own module, which `make test` installs where it may."""
    code = "try: import openvdb\nexcept ImportError: import pyopenvdb"
    command = [SYSTEM_PYTHON, "-c", code]
    there = shutil.which(SYSTEM_PYTHON) is not None
    if not there or subprocess.run(command, capture_output=True, timeout=60).returncode:
        pytest.skip("OpenVDB's own Python module is not installed (python3-openvdb)")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with meshes and particles, for scenes of SPlisHSPlasH."""
    from splish_rigs import make_models

    folder = tmp_path_factory.mktemp("splish")
    make_models(folder)
    return folder


@pytest.fixture
def imported(models: Path) -> "Take":
    """Imports scenes that lie in that folder."""
    from splish_rigs import importer

    return importer(models)
