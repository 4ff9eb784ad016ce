"""What a run says at its end of steps that fell short."""

from viscoil.core.figures import Figure
from viscoil.running.hindsight import Hindsight

FIGURES = [
    Figure("residual", "what is left", aim=0.01, remedy="give more iterations"),
    Figure("size", "no aim"),
]


def test_nothing_is_said_if_all_went_well() -> None:
    """A figure that stopped at its aim may be above it by rounding."""
    hindsight = Hindsight(FIGURES)
    hindsight.take(0.1, {"residual": 0.01 * (1.0 + 1e-9), "size": 5.0, "halvings": 0})
    hindsight.take(0.2, {"size": 5.0})
    assert hindsight.notes() == []


def test_it_says_how_often_and_by_how_much_an_aim_was_missed_and_what_to_do() -> None:
    hindsight = Hindsight(FIGURES)
    for k, residual in enumerate([0.005, 0.02, 0.35]):
        hindsight.take(0.1 * k, {"residual": residual})
    assert hindsight.notes() == [
        "residual was above 0.01 in 2 of 3 steps, up to 0.35: give more iterations"
    ]


def test_it_says_which_steps_went_wrong_at_first() -> None:
    hindsight = Hindsight(FIGURES)
    hindsight.take(0.1, {"halvings": 2})
    hindsight.take(0.2, {"halvings": 1})
    (note,) = hindsight.notes()
    assert note.startswith("2 steps went wrong at first")
    assert "the first at 0.1 s" in note
