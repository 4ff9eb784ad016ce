"""Functions of a script that a simulation calls, and how they are taken away again."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from viscoil.core.errors import ViscoilError

Argument = TypeVar("Argument")


class Handle:
    """Something that was added to a simulation; `remove()` or the end of `with` takes it away."""

    def __init__(self, text: str, remove: Callable[[], object]) -> None:
        self._text = text
        self._remove: Callable[[], object] | None = remove

    @property
    def active(self) -> bool:
        """Whether it is still there."""
        return self._remove is not None

    def remove(self) -> None:
        """Takes it away; a second time does nothing."""
        remove, self._remove = self._remove, None
        if remove is not None:
            remove()

    def __enter__(self) -> "Handle":
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def __repr__(self) -> str:
        return f"<{self._text}{'' if self.active else ', removed'}>"


class Callbacks(Generic[Argument]):
    """Functions that are called one after the other, in the order in which they came."""

    def __init__(self, method: str) -> None:
        """`method` is what the user calls to add one."""
        self._method = method
        self._functions: list[Callable[[Argument], object]] = []

    def add(self, function: Callable[[Argument], object]) -> Handle:
        """It is called from now on."""
        check_callable(self._method, function)
        # its own object, so that a function that is added twice is removed once
        entry: Callable[[Argument], object] = lambda argument: function(argument)  # noqa: E731
        self._functions.append(entry)
        text = f"{self._method}({name_of(function)})"
        return Handle(text, lambda: self._functions.remove(entry))

    def __call__(self, argument: Argument) -> None:
        for function in tuple(self._functions):
            function(argument)

    def __len__(self) -> int:
        return len(self._functions)


def check_callable(method: str, function: Any) -> None:
    """Raises ViscoilError for what is no function."""
    if not callable(function):
        raise ViscoilError(
            f"{method} needs a function, not {function!r}: give its name without brackets"
        )


def name_of(function: Any) -> str:
    """By which texts call a function."""
    return str(getattr(function, "__name__", type(function).__name__))
