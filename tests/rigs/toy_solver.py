"""The solver that CONTRIBUTING prints, saved and imported as it says."""

import importlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from viscoil.scene.solvers import registry as settings_registry
from viscoil.solvers import registry

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"
TOY = "wcsph"


@contextmanager
def saved_and_imported(folder: Path) -> Iterator[ModuleType]:
    """ "Save it as `wcsph.py`": the text between the fences, known to scenes until the end of this."""
    page = CONTRIBUTING.read_text(encoding="utf-8")
    name, code = re.findall(r"Save it as `(\w+)\.py`\.\n\n```python\n(.*?)```\n", page, re.S)[0]
    assert name == TOY
    (folder / f"{name}.py").write_text(code, encoding="utf-8")
    sys.path.insert(0, str(folder))  # other processes get it from here
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        del sys.modules[name], registry._SOLVERS[name], settings_registry._models[name]
