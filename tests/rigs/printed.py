"""The commands that a text names, as a shell would take them."""

import re
import shlex

from viscoil.cli.app import app

WORD = r"(?:'[^']*'|\"[^\"]*\"|[\w@%+=:./-])+"


def printed_commands(said: str) -> list[list[str]]:
    """The words of each command in a text; the command line must take all of them as printed."""
    texts = re.findall(f"viscoil((?: {WORD})+)", said)
    found = [words for words in map(shlex.split, texts) if words[0] in app]  # or it is a version
    for words in found:
        app.parse_args(words, exit_on_error=False, print_error=False)
    return found
