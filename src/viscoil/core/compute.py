"""The compute backend: chosen once per process, arrays, and NumPy's view of them.

Everything that runs on particles is a pure Quadrants kernel: all its data comes through its
parameters. This module hides how a backend is started and how an array is seen from NumPy.
"""

import os
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import numpy as np
import numpy.typing as npt
import quadrants as qd
from quadrants.lang import impl

from viscoil.core import quadrants_patches
from viscoil.core.errors import RunError

ARCHITECTURES = ("cpu", "cuda", "metal", "vulkan", "amdgpu")

vec3 = qd.types.vector(3, qd.f32)
vec4 = qd.types.vector(4, qd.f32)
vec6 = qd.types.vector(6, qd.f32)
vec10 = qd.types.vector(10, qd.f32)
mat3 = qd.types.matrix(3, 3, qd.f32)

# What kernels are given: one-dimensional arrays, one element per particle, pair, cell...
Floats = qd.types.NDArray[qd.f32, 1]
Doubles = qd.types.NDArray[qd.f64, 1]
Ints = qd.types.NDArray[qd.i32, 1]
Flag = qd.types.NDArray[qd.i32, 0]
Longs = qd.types.NDArray[qd.i64, 1]
Vec3s = qd.types.NDArray[vec3, 1]
Vec4s = qd.types.NDArray[vec4, 1]
Vec6s = qd.types.NDArray[vec6, 1]
Mat3s = qd.types.NDArray[mat3, 1]

# Metadata of fields of a kernel's dataclass that are annotated `qd.template()`: kernels are compiled for
# each value that they meet, and Quadrants keeps all of them in its cache.
COMPILED_IN = {"add_value_to_cache_key": True}

_started: tuple[str, int] | None = None

quadrants_patches.apply()


def initialize(arch: str = "cpu", threads: int | None = None) -> None:
    """Starts the backend; later calls must ask for the same one.

    The choice is one for the whole process because kernels are compiled for it.
    """
    global _started
    if arch not in ARCHITECTURES:
        raise RunError(f"unknown arch {arch!r}: choose one of {', '.join(ARCHITECTURES)}")
    wanted = (arch, threads or os.cpu_count() or 1)
    if _started is not None:
        if _started[0] != arch or (threads is not None and _started != wanted):
            raise RunError(
                f"the compute backend already runs as {_started[0]} with {_started[1]} threads; "
                f"start a new process for {arch} with {wanted[1]}"
            )
        return
    os.environ.setdefault("QD_ENABLE_TORCH", "0")
    try:
        with redirect_stdout(StringIO()):  # a banner; errors are raised, or go to stderr
            qd.init(
                arch=getattr(qd, arch),
                cpu_max_num_threads=wanted[1],
                enable_fallback=False,
                log_level="error",
                print_full_traceback=False,
            )
    except Exception as error:
        raise RunError(f"the {arch} backend does not start on this machine ({error})") from error
    # Kernels are kept under this number, which is compiled into them, but no more threads than
    # the pool has just been given work on them: one kernel serves all numbers of threads.
    impl.current_cfg().cpu_max_num_threads = max(wanted[1], os.cpu_count() or 1)
    # Quadrants' own analysis of what stores and loads see of each other takes half of the time of
    # compiling, and LLVM does it again: steps of 20 000 to 100 000 particles take as long without.
    impl.current_cfg().cfg_optimization = not on_cpu()
    _started = wanted


def is_running() -> bool:
    """Whether `initialize` has been called."""
    return _started is not None


def backend() -> tuple[str, int]:
    """Architecture and number of threads in use."""
    if _started is None:
        raise RunError("the compute backend has not been started: call compute.initialize()")
    return _started


def on_cpu() -> bool:
    """May be used inside `qd.static`: compiled kernels are cached per backend."""
    return impl.current_cfg().arch in (qd.x64, qd.arm64)


# New arrays hold zeros. Filling them again would compile a kernel for every new array of vectors,
# because Quadrants keeps the value as an object of its own in the kernel's key: a leak as well.


def scalars(dtype: Any, count: int) -> Any:
    """An array of `count` zeros (never empty, so that kernels always have something to bind)."""
    return qd.ndarray(dtype, (max(count, 1),))


def vectors(width: int, count: int) -> Any:
    """An array of `count` float vectors, zero."""
    return qd.Vector.ndarray(width, qd.f32, (max(count, 1),))


def matrices(count: int) -> Any:
    """An array of `count` 3x3 float matrices, zero."""
    return qd.Matrix.ndarray(3, 3, qd.f32, (max(count, 1),))


class _Capsule:
    """Lets `numpy.from_dlpack` see a Quadrants array without a copy."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **_: Any) -> Any:
        return self._array.to_dlpack(versioned=True)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def view(array: Any, count: int | None = None) -> npt.NDArray[Any]:
    """NumPy's view of an array: shared memory on the CPU, a copy on a GPU."""
    numbers = np.from_dlpack(_Capsule(array)) if backend()[0] == "cpu" else array.to_numpy()
    return numbers if count is None else numbers[:count]


def replace(array: Any, numbers: npt.NDArray[Any]) -> None:
    """Writes all elements; on the CPU without one of Quadrants' kernels, which would be compiled."""
    if backend()[0] == "cpu":
        view(array)[...] = numbers
    else:
        array.from_numpy(np.ascontiguousarray(numbers))


def write(array: Any, numbers: npt.ArrayLike, first: int = 0) -> None:
    """Writes `numbers` into the elements from `first` on."""
    values = np.asarray(numbers)
    if len(values) == 0:
        return
    if backend()[0] == "cpu":
        view(array)[first : first + len(values)] = values
        return
    whole = array.to_numpy()
    whole[first : first + len(values)] = values
    array.from_numpy(whole)


class Scratch:
    """Arrays by name that hold nothing between steps, and grow when there are more particles."""

    def __init__(self) -> None:
        self._arrays: dict[str, Any] = {}

    def floats(self, name: str, count: int) -> Any:
        """`count` numbers or more."""
        return self._at_least(name, count, lambda: scalars(qd.f32, count))

    def vectors(self, name: str, width: int, count: int) -> Any:
        """`count` vectors or more."""
        return self._at_least(name, count, lambda: vectors(width, count))

    def _at_least(self, name: str, count: int, make: Callable[[], Any]) -> Any:
        if name not in self._arrays or self._arrays[name].shape[0] < count:
            self._arrays[name] = None  # frees it before the longer one is made
            self._arrays[name] = make()
        return self._arrays[name]
