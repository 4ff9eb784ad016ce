"""The table Configuration: resolution, gravity, steps and duration."""

from dataclasses import dataclass
from typing import Any

from viscoil.scene.importers.geometry import Vector
from viscoil.scene.importers.splishsplash.document import Section

GRAVITY: Vector = (0.0, -9.81, 0.0)
DEFAULT_DURATION = 10.0  # s, of a scene that never stops
STEP_SHARE = 0.4  # its time steps move a particle by 0.4 cflFactor diameters
BY_PARTICLES = 0  # boundary handling: walls are samples of surfaces and have no inside

_SOLVER = (
    "simulationMethod", "WCSPH", "PCISPH", "PBF", "IISPH", "DFSPH", "Projective Fluids", "ICSPH",
    "kernel", "gradKernel", "maxIterations", "minIterations", "maxError", "maxIterationsV",
    "maxErrorV", "stiffness", "exponent", "velocityUpdateMethod", "enableDivergenceSolver",
    "enableZSort", "stepsPerZSort",
)  # fmt: skip
_WINDOW = (
    "pause", "numberOfStepsPerRenderUpdate", "renderWalls", "colorMapType", "renderMaxVelocity",
    "renderMinVelocity", "sceneScale",
)  # fmt: skip
_FILES = (
    "particleAttributes", "enablePartioExport", "enableVTKExport", "enableRigidBodyExport",
    "enableRigidBodyVTKExport", "enableStateExport", "stateExportFPS", "enableObjectSplitting",
    "enableParticleExport",
)  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """What the other tables need to know of the configuration."""

    spacing: float
    """m."""
    step: float
    """Longest time step, s."""
    duration: float
    """s."""
    flat: bool
    """Whether the scene is of two dimensions."""
    walls_by_particles: bool
    """Whether walls hold from both sides, because they are particles."""


def read_configuration(section: Section) -> tuple[Setting, dict[str, Any]]:
    """The setting, and the tables `simulation` and, if there is one, `camera`."""
    radius = section.positive("particleRadius", 0.025)
    flat = section.switch("sim2D")
    adaptive = section.whole("cflMethod", 1) != 0
    step = section.positive("timeStepSize", 0.001)
    longest = section.positive("cflMaxTimeStepSize", 0.005)
    shortest = section.positive("cflMinTimeStepSize", 1e-5)
    duration = _duration(section)
    setting = Setting(
        spacing=2.0 * radius,
        step=longest if adaptive else step,
        duration=duration,
        flat=flat,
        walls_by_particles=section.whole("boundaryHandlingMethod", 2) == BY_PARTICLES,
    )
    x, y, z = section.vector("gravitation", GRAVITY)
    table = {
        "spacing": setting.spacing,
        "duration": duration,
        "gravity": [x, y, 0.0 if flat else z],
        "cfl": STEP_SHARE * section.positive("cflFactor", 0.5),
        "max_time_step": setting.step,
        "min_time_step": min(shortest, setting.step),
    }
    if "dataExportFPS" in section:
        table["fps"] = section.positive("dataExportFPS", 25.0)
    tables: dict[str, Any] = {"simulation": table}
    if "cameraPosition" in section and "cameraLookat" in section:
        tables["camera"] = {
            "position": list(section.vector("cameraPosition", GRAVITY)),
            "target": list(section.vector("cameraLookat", GRAVITY)),
        }
    _leave(section)
    return setting, tables


def _duration(section: Section) -> float:
    stop, pause = section.number("stopAt", -1.0), section.number("pauseAt", -1.0)
    if max(stop, pause) > 0.0:
        return stop if stop > 0.0 else pause
    section.losses.add(
        "Configuration", f"has no stopAt, so that the scene ends after {DEFAULT_DURATION:g} s"
    )
    return DEFAULT_DURATION


def _leave(section: Section) -> None:
    section.leave(_SOLVER, "settings of its solvers; Viscoil has its own")
    section.leave(_WINDOW, "settings of its window")
    section.leave(_FILES, "settings of its files; see [[outputs]]")
    section.leave(("cameraPosition", "cameraLookat"), "a camera needs both")
    if "scriptFile" in section:
        section.lost("scriptFile", "a script in Python, which cannot be carried over")
    section.finish()
