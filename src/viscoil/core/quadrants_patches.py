"""What is changed in Quadrants 1.3 while it runs: less searching, and nothing that piles up.

All of it concerns how Quadrants finds and remembers things in Python, and none of it what kernels
compute. It relies on names that are not public, which is why `pyproject.toml` admits 1.3 alone; each
change has a test in `tests/running/test_startup.py` or is seen in `bench/startup.py`.
"""

import functools
import sys
from typing import Any

from quadrants.lang import _func_base, _template_mapper, kernel, kernel_impl
from quadrants.lang._fast_caching import function_hasher

MOST_CALLS = 64  # of a kernel, whose arguments are remembered

_inside_class = kernel_impl._inside_class
_lookup = _template_mapper.TemplateMapper.lookup


def _quick_inside_class(level_of_class_stackframe: int) -> bool:
    """Whether a kernel or function is declared in a class; not if Python's importer is what called.

    Quadrants asks this of the line of source that is being run. The importer has none that could be
    found, but the search for it goes through all modules: 0.2 s for all kernels together. For those
    of Quadrants itself see `running.compiling`.
    """
    if sys._getframe(level_of_class_stackframe).f_code.co_filename.startswith("<frozen"):
        return False
    return bool(_inside_class(level_of_class_stackframe + 1))


def _bounded_lookup(self: Any, *arguments: Any) -> Any:
    """Which specialization of a kernel arguments belong to; few are remembered.

    Quadrants remembers arguments by their addresses as long as their arrays live. A count of particles
    or a time step is a new object in every step, so that each call left an entry behind.
    """
    if len(self._mapping_cache) > MOST_CALLS:
        self._mapping_cache_tracker.clear()
        self._mapping_cache.clear()
    return _lookup(self, *arguments)


def apply() -> None:
    """Changes Quadrants; once is enough, and again does no harm."""
    if kernel_impl._inside_class is _quick_inside_class:
        return
    kernel_impl._inside_class = _quick_inside_class
    _template_mapper.TemplateMapper.lookup = _bounded_lookup
    # Quadrants reads the source of a function each time that it is inlined, to compile it or to see
    # whether it has changed since: some thousand times for some hundred functions.
    source = functools.cache(_func_base.get_source_info_and_src)
    _func_base.get_source_info_and_src = kernel.get_source_info_and_src = source
    function_hasher._hash_function = functools.cache(function_hasher._hash_function)
