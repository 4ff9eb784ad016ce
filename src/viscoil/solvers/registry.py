"""The solvers by the names that scenes give them: a folder each, and a line each here."""

from importlib import import_module

from viscoil.core.errors import ViscoilError
from viscoil.core.names import unknown_name
from viscoil.core.timing import PhaseClock
from viscoil.neighbors.pairs import Neighbors
from viscoil.scene import SolverSettings
from viscoil.scene.solvers import register_settings
from viscoil.solvers.protocol import Solver

_SOLVERS: dict[str, str | type[Solver]] = {
    "dcpbd": "viscoil.solvers.dcpbd.solver:DCPBD",
}
"""Classes, or where they are: a solver's kernels are loaded only if a scene names it."""


def register(solver: type[Solver]) -> None:
    """Makes a solver known under the `method` of its settings, for scenes and commands."""
    register_settings(solver.settings_model)
    _SOLVERS[str(solver.settings_model.model_fields["method"].default)] = solver


def find_solver(method: str) -> type[Solver]:
    """The solver of that name."""
    if method not in _SOLVERS:
        raise ViscoilError(f"{method!r} {unknown_name('solver', method, _SOLVERS)}")
    found = _SOLVERS[method]
    if isinstance(found, str):
        module, _, name = found.partition(":")
        loaded: type[Solver] = getattr(import_module(module), name)
        _SOLVERS[method] = found = loaded
    return found


def make_solver(
    settings: SolverSettings, spacing: float, neighbors: Neighbors, clock: PhaseClock
) -> Solver:
    """The solver that the settings name, for particles of this spacing (m)."""
    return find_solver(settings.method)(settings, spacing, neighbors, clock)
