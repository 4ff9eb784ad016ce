"""Imports and runs the scenes that SPlisHSPlasH ships, and makes the table in docs/splishsplash.md.

    python verify/splishsplash_scenes.py run SCENES RESULTS.jsonl [--frames 10] [--limit 900]
    python verify/splishsplash_scenes.py table RESULTS.jsonl docs/splishsplash.md

SCENES is the folder `data/Scenes` of the wheel of pySPlisHSPlasH, unpacked. Each scene has a process
of its own and a line in RESULTS.jsonl; scenes that have a line there are not run again. `--most N`
coarsens scenes of more than N particles by simulation.scale, which the table then shows.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

MARK = "<!-- table of scenes -->"
MOST_DENSITY_ERROR = 0.05
OUTSIDE = 0.1  # spacings beyond the wall of a tank at which a particle has left it

Result = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("run", "one"):
        command = commands.add_parser(name)
        command.add_argument("source", type=Path)
        command.add_argument("--frames", type=int, default=10)
        command.add_argument("--most", type=int, default=10**9)
        if name == "run":
            command.add_argument("results", type=Path)
            command.add_argument("--limit", type=float, default=900.0)
    table = commands.add_parser("table")
    table.add_argument("results", type=Path)
    table.add_argument("page", type=Path)
    options = parser.parse_args()
    if options.command == "run":
        run_all(options)
    elif options.command == "one":
        print(json.dumps(run_one(options.source, options.frames, options.most)))
    else:
        write_table(options.results, options.page)


def run_all(options: argparse.Namespace) -> None:
    """Runs every scene that has no line yet; a line is written as soon as it is known."""
    done = {result["scene"] for result in read_results(options.results)}
    for path in sorted(options.source.glob("*.json")):
        if path.stem in done:
            continue
        result = in_process(path, options)
        with open(options.results, "a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        print({key: value for key, value in result.items() if key != "lost"}, flush=True)


def in_process(path: Path, options: argparse.Namespace) -> Result:
    command = [sys.executable, __file__, "one", str(path)]
    command += ["--frames", str(options.frames), "--most", str(options.most)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return {"scene": path.stem, "result": "slow", "why": f"not done in {options.limit:g} s"}
    try:
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except (IndexError, ValueError):
        return {"scene": path.stem, "result": "crashed", "why": done.stderr[-400:]}


def run_one(path: Path, frames: int, most: int) -> Result:
    """Imports a scene and simulates some frames of it."""
    from viscoil.core.errors import ViscoilError
    from viscoil.exchange.imported_geometry import FileGeometry
    from viscoil.scene import Scene
    from viscoil.scene.importers.splishsplash import import_scene

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "scene.toml"
        geometry = FileGeometry(out)
        result: Result = {"scene": path.stem}
        try:
            imported = import_scene(path, geometry)
            geometry.write()
            out.write_text(imported.to_toml(), encoding="utf-8")
            result["lost"] = list(imported.lost)
            return result | simulate(Scene.load(out).with_frames(frames), most)
        except ViscoilError as error:
            why = str(error).replace(f"{path}: ", "").replace(folder, "").splitlines()[0]
            known = "lost" in result
            return result | {"result": "failed" if known else "refused", "why": why}


def simulate(scene: Any, most: int) -> Result:
    """Figures of a run."""
    from viscoil import Simulation
    from viscoil.sampling import amounts
    from viscoil.sampling.seed_files import mean_spacing

    count = amounts.expected_particles(scene.with_frames(1))
    scale = min(1.0, most / max(count, 1))
    if scale < 1.0:
        data = scene.to_dict()
        data["simulation"]["scale"] = scale
        scene = type(scene).model_validate(data)
    began = time.perf_counter()
    simulation = Simulation(scene)
    errors: list[float] = []
    fastest = 0.0
    for _ in range(scene.frames):
        while simulation.frame < len(errors) + 1:
            stats = simulation.step()
            fastest = max(fastest, stats["max_speed"])
        errors.append(stats["density_error_mean"])
    return {
        "result": "runs",
        "particles": int(stats["particles"]),
        "scale": scale,
        "density_error": float(max(errors)),
        "escaped": escaped(scene, simulation),
        "spacing": mean_spacing(positions(simulation)) / scene.simulation.spacing,
        "fastest": float(fastest),
        "steps": simulation.steps,
        "seconds": round(time.perf_counter() - began, 1),
        "notes": list(simulation.notes),
    }


def positions(simulation: Any) -> Any:
    return simulation.particles["position"].astype(float)


def escaped(scene: Any, simulation: Any) -> int | None:
    """Particles outside of the tank; None without a tank.

    Those that are still in a nozzle, which may stand in the wall, have not come in yet.
    """
    from viscoil.colliders.primitives import distance

    tanks = [c for c in scene.colliders if c.shape == "box" and c.container]
    if not tanks:
        return None
    outermost = max(tanks, key=lambda tank: np.prod(tank.size))
    points, d = positions(simulation), scene.simulation.spacing
    outside = distance(outermost, points, simulation.time) < -OUTSIDE * d
    for emitter in scene.emitters:
        outside &= ~in_nozzle(emitter, points, scene.solver.support * d, d)
    return int(outside.sum())


def in_nozzle(emitter: Any, points: Any, run_in: float, d: float) -> Any:
    """Which points are in the zone before a nozzle in which particles appear."""
    along = np.array(emitter.direction) / np.linalg.norm(emitter.direction)
    way = (points - np.array(emitter.center)) @ along
    aside = np.linalg.norm(points - np.array(emitter.center) - np.outer(way, along), axis=1)
    width = emitter.radius if emitter.shape == "disc" else 0.5 * float(np.hypot(*emitter.size))
    return (way > -run_in - d) & (way < d) & (aside < width + d)


def read_results(path: Path) -> list[Result]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def is_good(result: Result) -> bool:
    """Whether the scene ran as it should."""
    if result["result"] != "runs":
        return False
    return result["density_error"] < MOST_DENSITY_ERROR and not result["escaped"]


def write_table(results: Path, page: Path) -> None:
    """Replaces what follows the mark in a page."""
    rows = sorted(read_results(results), key=lambda r: str(r["scene"]).lower())
    good = sum(map(is_good, rows))
    head = page.read_text(encoding="utf-8").split(MARK)[0]
    lines = [
        MARK,
        "",
        f"{good} of {len(rows)} scenes ran.",
        "",
        "| scene | result | particles | density error | spacing | outside | fastest (m/s) "
        "| not carried over |",
        "|---|---|---|---|---|---|---|---|",
        *(row(result) for result in rows),
    ]
    page.write_text(head + "\n".join(lines) + "\n", encoding="utf-8")
    print(f"{good} of {len(rows)} scenes ran; the table is in {page}")


def row(result: Result) -> str:
    name = result["scene"]
    if result["result"] != "runs":
        return f"| {name} | {result['result']}: {result['why']} | | | | | | |"
    scale = "" if result["scale"] == 1.0 else f" (scale {result['scale']:.2g})"
    tank = "no tank" if result["escaped"] is None else result["escaped"]
    return (
        f"| {name} | {'runs' if is_good(result) else 'bad'} | {result['particles']}{scale} "
        f"| {100 * result['density_error']:.2f} % | {result['spacing']:.3f} | {tank} "
        f"| {result['fastest']:.1f} "
        f"| {'; '.join(short(line) for line in result['lost'] if told(line)) or '–'} |"
    )


def told(line: str) -> bool:
    """Whether a line is worth its place in the table: settings of windows and files are not."""
    dull = ("settings of its", "colours by", "no colour", "walls are sampled", "no stopAt",
            "notes of its editors", "shapes for contact")  # fmt: skip
    return not any(words in line for words in dull)


def short(line: str) -> str:
    return line.replace("|", "/")


if __name__ == "__main__":
    main()
