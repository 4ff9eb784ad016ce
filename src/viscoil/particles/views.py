"""Views of channels that may be read and written until particles move in memory, and not after.

Sorting swaps the arrays of channels with spare ones, so a plain NumPy view that is held over a step
shows, and writes into, the memory of another channel. A `ChannelView` works like the array it stands
for and copies nothing, but belongs to a lease: when the particles end it, every use of the view, and of
any view taken from it, raises an error. What is computed from views are plain arrays.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from viscoil.core.errors import ViscoilError

# Methods and functions of NumPy that write into their first argument.
_WRITING_METHODS = frozenset({"byteswap", "fill", "itemset", "partition", "put", "sort"})
_WRITING_FUNCTIONS = frozenset(
    {np.copyto, np.fill_diagonal, np.place, np.put, np.put_along_axis, np.putmask}
)
# What would hand out the bare memory, or change the array that the view stands for.
_NOT_OFFERED = frozenset({"base", "ctypes", "data", "flat", "resize", "setflags"})


class Lease:
    """The time for which views are good: until particles move in memory."""

    def __init__(self, written: bool = False) -> None:
        self.over = False
        self.written = written
        """Whether anything was written through a view."""


class ChannelView(NDArrayOperatorsMixin):
    """A channel, or a part of it, as NumPy sees it; good until the next step."""

    __slots__ = ("_array", "_lease", "_name", "_upload")

    def __init__(
        self,
        name: str,
        array: npt.NDArray[Any],
        lease: Lease,
        upload: Callable[[], None] | None = None,
    ) -> None:
        """`array` is the memory of the channel, or a copy of it that `upload` brings back there."""
        self._name = name
        self._array = array
        self._lease = lease
        self._upload = upload

    # Reading

    def _read(self) -> npt.NDArray[Any]:
        if self._lease.over:
            raise ViscoilError(
                f"this view of the channel {self._name!r} is out of date, because a step or new "
                f'particles have moved it in memory: take particles["{self._name}"] anew after '
                "each step, or keep a copy made by numpy.array"
            )
        return self._array

    def _part(self, found: Any) -> Any:
        return _guarded(found, [self])

    def __getitem__(self, key: Any) -> Any:
        return self._part(self._read()[plain(key)])

    def __array__(
        self, dtype: npt.DTypeLike | None = None, copy: bool | None = None
    ) -> npt.NDArray[Any]:
        """A plain array; without a copy it is read-only, since nothing can tell when it is too old."""
        array = self._read()
        if copy or (dtype is not None and np.dtype(dtype) != array.dtype):
            if copy is False:
                raise ValueError("another type of numbers needs a copy: leave out copy=False")
            return np.array(array, dtype=dtype)
        shown = array.view()
        shown.flags.writeable = False
        return shown

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in _NOT_OFFERED:
            raise AttributeError(
                f"a view of a channel has no {name!r}: make an array of it by numpy.array"
            )
        found = getattr(self._read(), name)
        if not callable(found):
            return self._part(found)

        def method(*args: Any, **kwargs: Any) -> Any:
            self._read()
            result = found(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()})
            if name in _WRITING_METHODS:
                self._wrote()
            return _given(kwargs.get("out"), result, [self])

        return method

    # Writing

    def __setitem__(self, key: Any, values: Any) -> None:
        self._read()[plain(key)] = plain(values)
        self._wrote()

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in ChannelView.__slots__:
            raise AttributeError(
                f"{name!r} of a view of a channel cannot be set: make an array of it by numpy.array"
            )
        super().__setattr__(name, value)

    def _wrote(self) -> None:
        self._lease.written = True
        if self._upload is not None:
            self._upload()

    # What NumPy asks for

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        result = getattr(ufunc, method)(
            *map(plain, inputs), **{key: plain(value) for key, value in kwargs.items()}
        )
        if method == "at" and isinstance(inputs[0], ChannelView):
            inputs[0]._wrote()
        return _given(kwargs.get("out"), result, [self])

    def __array_function__(
        self, function: Any, types: Iterable[type], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        result = function(*plain(args), **{key: plain(value) for key, value in kwargs.items()})
        if function in _WRITING_FUNCTIONS and isinstance(args[0], ChannelView):
            args[0]._wrote()
        return _given(kwargs.get("out"), result, list(_views_in([args, *kwargs.values()])))

    # What Python asks for

    def __len__(self) -> int:
        return len(self._read())

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: object) -> bool:
        return bool((self._read() == value).any())

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._read())

    def __float__(self) -> float:
        return float(self._read())

    def __reduce__(self) -> Any:
        """Copies, pickled or not, are plain arrays."""
        return np.array(self._read()).__reduce__()

    def __repr__(self) -> str:
        if self._lease.over:
            return f"<view of {self._name!r}, out of date>"
        text = np.array2string(self._array, threshold=12, edgeitems=2)
        return f"<view of {self._name!r}, {self._array.dtype} {self._array.shape}>\n{text}"


def plain(value: Any) -> Any:
    """The array behind a view, also in lists and tuples; anything else as it is."""
    if isinstance(value, ChannelView):
        return value._read()
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(map(plain, value))
    if isinstance(value, list) and any(isinstance(v, ChannelView) for v in value):
        return list(map(plain, value))
    return value


def _views_in(values: Iterable[Any]) -> Iterator[ChannelView]:
    """Every view among arguments, also in lists and tuples."""
    for value in values:
        if isinstance(value, ChannelView):
            yield value
        elif isinstance(value, list | tuple):
            yield from _views_in(value)


def _guarded(found: Any, views: Sequence[ChannelView]) -> Any:
    """What was found, as a view again where it lies in the memory of one."""
    if isinstance(found, np.ndarray):
        for view in views:
            if np.may_share_memory(found, view._array):
                return ChannelView(view._name, found, view._lease, view._upload)
    elif isinstance(found, list | tuple) and any(isinstance(f, np.ndarray) for f in found):
        parts = [_guarded(f, views) for f in found]
        return tuple(parts) if type(found) is tuple else parts
    return found


def _given(out: Any, result: Any, views: Sequence[ChannelView]) -> Any:
    """The result, or what it was to be written into."""
    if out is None:
        return _guarded(result, views)
    outs = out if isinstance(out, tuple) else (out,)
    for target in outs:
        if isinstance(target, ChannelView):
            target._wrote()
    return outs[0] if len(outs) == 1 else outs
