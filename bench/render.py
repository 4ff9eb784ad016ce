"""How long a draft picture of 100 000 particles takes, from the start of the command to its file."""

import tempfile
from pathlib import Path

from measure import note, report
from surface import made_run, timed


def main() -> None:
    """Measure with the surface there already, and without."""
    with tempfile.TemporaryDirectory() as name:
        made_run(Path(name))
        draft = ("render", name, "--draft", "--size", "960x540", "--overwrite", "--quiet")
        bare_wall, bare_work = timed(*draft)
        timed("mesh", name, "--quiet")
        wall, work = timed(*draft)
    report("draft picture 960x540 of 100 000 particles", wall, "s", 15.0)
    note("work of all threads", work, "s")
    note("with the surface made on the way", bare_wall, "s")
    note("work of all threads", bare_work, "s")


if __name__ == "__main__":
    main()
