"""Where things are in a USD stage, and names that USD allows."""

import unicodedata
from collections.abc import Iterable

WORLD = "/World"
PARTICLES = f"{WORLD}/Particles"
COLLIDERS = f"{WORLD}/Colliders"
SURFACE = f"{WORLD}/Surface"
LOOKS = f"{WORLD}/Looks"
CAMERA = f"{WORLD}/Camera"


def identifier(name: str) -> str:
    """A name of ASCII letters, digits and underscores that does not start with a digit.

    Newer USD takes letters of all languages; programs in use today do not.
    """
    plain = unicodedata.normalize("NFKD", name)
    letters = (c for c in plain if not unicodedata.combining(c))
    text = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in letters)
    return f"_{text}" if not text or text[0].isdigit() else text


def identifiers(names: Iterable[str]) -> list[str]:
    """One for each name, all different: those that would be equal are counted."""
    taken: list[str] = []
    for name in names:
        base = text = identifier(name)
        count = 1
        while text in taken:
            count += 1
            text = f"{base}_{count}"
        taken.append(text)
    return taken


def collider_name(index: int, shape: str) -> str:
    """The prim of the scene's collider with that index."""
    return f"{shape}_{index}"
