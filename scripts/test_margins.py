"""How far simulated figures stay from the bars of their tests, for six starts.

    python scripts/test_margins.py [FLAG...]

Runs the tests marked `physics` (of those that pytest's flags choose) from the start as it is written
and from five that are moved at random by 1e-6 spacings, and prints the worst margin of each bar. Ends
with an error where a test fails, or where less than a quarter of a bar is left that no docstring
derives.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

STARTS = "0,1,2,3,4,5"  # seeds; 0 is the start as it is written
ENOUGH = 0.25  # of the bar, or of the tolerance


def run_tests(flags: Sequence[str], record: Path) -> bool:
    """Whether all tests passed; their margins are in the record."""
    environment = {**os.environ, "VISCOIL_MARGINS": str(record), "VISCOIL_PERTURB": STARTS}
    command = [sys.executable, "-m", "pytest", "-q", "-m", "physics", *flags]
    return subprocess.run(command, env=environment).returncode == 0


def worst_margins(record: Path) -> list[dict[str, Any]]:
    """The worst line of each bar, the smallest margin first."""
    worst: dict[tuple[str, str], dict[str, Any]] = {}
    for text in record.read_text(encoding="utf-8").splitlines():
        line = json.loads(text)
        key = line["test"], line["name"]
        if key not in worst or _margin(line) < _margin(worst[key]):
            worst[key] = line
    return sorted(worst.values(), key=_margin)


def _margin(line: dict[str, Any]) -> float:
    return float("-inf") if line["margin"] is None else float(line["margin"])


def is_short(line: dict[str, Any]) -> bool:
    return _margin(line) < (0.0 if line["derived"] else ENOUGH)


def print_table(lines: Sequence[dict[str, Any]]) -> None:
    print(f"\n{'margin':>8}  {'figure':>10}  {'bar':>10}  test: bar")
    for line in lines:
        note = " (derived)" if line["derived"] else " SHORT" if is_short(line) else ""
        numbers = f"{_margin(line):8.1%}  {line['figure']:10.4g}  {line['bar']:10.4g}"
        print(f"{numbers}  {line['test']}: {line['name']}{note}")


def main(flags: Sequence[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "margins.jsonl"
        record.touch()
        passed = run_tests(flags, record)
        lines = worst_margins(record)
    print_table(lines)
    short = sum(map(is_short, lines))
    print(f"\n{len(lines)} bars, {short} of them short")
    return 0 if passed and not short else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
