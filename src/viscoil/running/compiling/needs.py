"""Which kernels the first frame of a scene will call."""

from dataclasses import dataclass
from typing import Any

from viscoil.scene import Scene

# Kernels are named after their module and function, the longest to compile first, so that no process is
# left with a long one when the others are done.
WALLS = (
    "planes.choose_planes",
    "planes.hold_velocities",
)
PICTURE = (
    "kernels.draw_picture", "kernels.draw_light_map", "distance_grid.sum_blocks",
    "distance_grid.finish_blocks",
)  # fmt: skip
BODIES = ("impulses.resolve", "body_velocities.move_together", "body_velocities.place_bodies")
HEAT = (
    "exposure._expose", "kernels.transfer_to_surroundings", "kernels.rates", "kernels.stage",
    "kernels.soften", "kernels.add_changes",
)  # fmt: skip
SHORT = (
    "pairs._link_cells", "search.bound_others", "search.mark", "search.survey",
    "search.collect", "pairs._list_chunk", "force_fields._accelerate", "diagnostics._diagnose",
    "pairs._fill_bricks", "pairs._gather_cells", "pairs._mark_changes", "arrays.set_masses",
    "store._gather_floats", "store._gather_ints", "store._gather_vec3", "store._gather_vec6",
    "reductions._scan_blocks", "reductions._scan_in_place", "reductions._sum_blocks",
    "zorder._make_keys", "zorder._count_digits", "zorder._scan_histogram", "zorder._scatter",
    "zorder._survey", "zorder._survey_total",
)  # fmt: skip


@dataclass(frozen=True)
class Needs:
    """Kernels, where they are declared, and the values of what is compiled into them, by name."""

    names: tuple[str, ...]
    modules: list[str]
    values: dict[str, Any]


def needs(scene: Scene) -> Needs:
    """What the first frame of a scene is known to call."""
    from viscoil.neighbors.smoothing import Smoothing
    from viscoil.solvers.registry import find_solver

    solver = find_solver(scene.solver.method)
    own, own_values = solver.kernels(scene)
    dynamic = any(spec.shape != "plane" and spec.dynamic for spec in scene.colliders)
    values = {
        "kind": int(Smoothing[scene.solver.smoothing.upper()]),
        "repeats": any(length > 0.0 for length in scene.simulation.periodic),
        "mixed": scene.mixed,
        "parted": scene.parted,
        "coupled": dynamic or (scene.simulation.report_forces and bool(scene.colliders)),
        **own_values,
    }
    drawn = any(output.type in ("preview", "video") for output in scene.outputs)
    heated = "temperature" in scene.channel_widths
    names = (
        *own, *WALLS, *(PICTURE if drawn else ()), *(BODIES if dynamic else ()),
        *(HEAT if heated else ()), *SHORT,
    )  # fmt: skip
    modules = ["viscoil.simulation.simulation", solver.__module__, "viscoil.preview.picture"]
    return Needs(names, modules, values)
