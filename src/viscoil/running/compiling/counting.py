"""Counts the kernels that this process compiles itself."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Counter:
    """How many kernels this process has compiled itself, of how many that it needs, if known."""

    def __init__(self) -> None:
        self.count = 0
        self.total: int | None = None
        self.listeners: list[Callable[[str], None]] = []
        self.installed = False

    def install(self) -> None:
        """Counts from now on; the modules of Quadrants are imported for that."""
        if self.installed:
            return
        from quadrants.lang.impl import Program

        self.installed = True
        compile_kernel = Program.compile_kernel

        def counted(*arguments: Any) -> Any:
            result = compile_kernel(*arguments)
            if not result.cache_hit:
                self._add()
            return result

        Program.compile_kernel = counted

    def _add(self) -> None:
        self.count += 1
        known = self.total is not None and self.count <= self.total
        for listener in self.listeners:
            listener(f"{self.count}/{self.total}" if known else f"{self.count}")


counter = Counter()


@contextmanager
def told_of(listener: Callable[[str], None]) -> Iterator[None]:
    """Meanwhile `listener` is told how far it is whenever this process has compiled a kernel."""
    counter.listeners.append(listener)
    try:
        yield
    finally:
        counter.listeners.remove(listener)
