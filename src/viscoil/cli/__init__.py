"""The command line: `viscoil run honey`."""

import gc
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code is 0, 1 for an error, 2 for wrong usage, 130 for Ctrl-C."""
    if arguments is None:  # in a process of our own
        gc.set_threshold(50_000, 20, 20)  # imports make many objects that stay: 0.1 s of searching
    from cyclopts import CycloptsError

    from viscoil.cli.app import app
    from viscoil.core.errors import SceneError, Stopped, ViscoilError

    given = sys.argv[1:] if arguments is None else arguments
    try:
        app(
            given,
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()  # within the handler of a closed pipe
    except CycloptsError as error:
        return _fail(_usage_text(str(error), error.command_chain or ()), code=2)
    except Stopped as stop:
        return _fail(str(stop), code=stop.code)
    except SceneError as error:
        return _fail(*error.problems)
    except ViscoilError as error:
        return _fail(str(error))
    except BrokenPipeError:
        return _quiet_pipe()
    except KeyboardInterrupt:
        return _fail(_interrupted_text(given), code=130)
    return 0


def _interrupted_text(arguments: Sequence[str]) -> str:
    """The sentence after Ctrl-C; runs have checkpoints, other commands write whole files or none."""
    if "run" in arguments[:1]:
        return "interrupted: --resume goes on from the last checkpoint, if any"
    return (
        "interrupted: finished files stay; give the command again, with --overwrite if it says so"
    )


def _usage_text(text: str, chain: Sequence[str]) -> str:
    """What cyclopts says of wrong usage, written as our own errors are; `chain` names the command."""
    from viscoil.core.commands import command

    text = text.strip().removesuffix(".")
    return f"{text[:1].lower()}{text[1:]} (see {command(*chain, '--help')})"


def _fail(*sentences: str, code: int = 1) -> int:
    for sentence in sentences:
        line = " ".join(sentence.split())
        print(f"viscoil: {line}", file=sys.stderr)
    return code


def _quiet_pipe() -> int:
    """The reader, such as `head`, has closed the pipe: no error, but nothing more can be written."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
