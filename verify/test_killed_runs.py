"""A hundred runs are killed at random moments of their lives, and all go on to the same bits.

Half of the moments are by the clock, from the start of the process to its end; half are the sight of
an unfinished frame, checkpoint, picture, film or statistics, as they are while a run starts, writes
or cuts itself back. One in ten is a Ctrl-C.
"""

from pathlib import Path

import pytest
from killing import kill_runs, needs_kill


@needs_kill
@pytest.mark.slow
def test_a_hundred_killed_runs_go_on_to_the_same_bits(tmp_path: Path) -> None:
    tally = kill_runs(tmp_path, runs=100, most_kills=2, seed=11)
    print(
        f"\n{tally.runs} runs killed {tally.kills} times: {tally.same} end in the same bits, "
        f"{tally.unreadable} folders could not be read on the way"
    )
    assert (tally.same, tally.unreadable) == (100, 0)
