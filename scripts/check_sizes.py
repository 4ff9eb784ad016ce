"""Measures functions, kernels and files of src/viscoil and files of tests; fails beyond these limits.

A function's length is from its `def` to its last line, with docstring and comments, without
decorators. Methods and nested functions count as functions, and only `@qd.kernel`s as kernels.
"""

import ast
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "viscoil"
TESTS = ROOT / "tests"

MEDIAN_LINES = 8
P95_LINES = 25
LONGEST_LINES = 60
KERNEL_PARAMETERS = 12
FILE_LINES = 400
TEST_FILE_LINES = 500


@dataclass(frozen=True)
class Function:
    """A function or method, and where it is."""

    place: str
    lines: int
    parameters: int
    is_kernel: bool


def functions(path: Path) -> Iterator[Function]:
    """All functions of a file, nested ones and methods among them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            assert node.end_lineno is not None
            given = node.args
            yield Function(
                f"{path.relative_to(SOURCE)}:{node.lineno} {node.name}",
                node.end_lineno - node.lineno + 1,
                len([*given.posonlyargs, *given.args, *given.kwonlyargs]),
                any("qd.kernel" in ast.unparse(decorator) for decorator in node.decorator_list),
            )


def percentile(sizes: list[int], share: float) -> int:
    """The smallest size that at least this share of all does not exceed."""
    ordered = sorted(sizes)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def report(name: str, value: float, limit: int, offenders: list[str]) -> bool:
    """Prints a figure, and whatever is beyond its limit; whether it is within."""
    good = value <= limit
    print(f"{name:30} {value:6g}  (limit {limit}){'' if good else '  TOO LARGE'}")
    for offender in offenders:
        print(f"    {offender}")
    return good


def report_files(name: str, folder: Path, limit: int) -> bool:
    """As `report`, of the longest file of a folder."""
    files = sorted(folder.rglob("*.py"))
    lengths = {str(f.relative_to(folder)): len(f.read_text("utf-8").splitlines()) for f in files}
    large = [f"{file}: {lines} lines" for file, lines in lengths.items() if lines > limit]
    return report(name, max(lengths.values()), limit, large)


def main() -> int:
    """Exit code 1 if any figure is beyond its limit."""
    files = sorted(SOURCE.rglob("*.py"))
    found = [function for file in files for function in functions(file)]
    sizes = [function.lines for function in found]
    kernels = [function for function in found if function.is_kernel]
    long = [f"{f.place}: {f.lines} lines" for f in found if f.lines > LONGEST_LINES]
    wide = [
        f"{k.place}: {k.parameters} parameters" for k in kernels if k.parameters > KERNEL_PARAMETERS
    ]
    print(f"{len(files)} files, {len(found)} functions, {len(kernels)} kernels")
    checks = [
        report("median of functions, lines", statistics.median(sizes), MEDIAN_LINES, []),
        report("95th percentile, lines", percentile(sizes, 0.95), P95_LINES, []),
        report("longest function, lines", max(sizes), LONGEST_LINES, long),
        report(
            "most parameters of a kernel",
            max((kernel.parameters for kernel in kernels), default=0),
            KERNEL_PARAMETERS,
            wide,
        ),
        report_files("longest file, lines", SOURCE, FILE_LINES),
        report_files("longest file of tests, lines", TESTS, TEST_FILE_LINES),
    ]
    return 0 if all(checks) else 1


if __name__ == "__main__":
    sys.exit(main())
