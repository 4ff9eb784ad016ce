"""How much one mesh file may ask for: together they keep reading below 2 GiB of memory.

Sentences that readers raise have no subject: `read_mesh` puts the name of the file before them.
"""

from viscoil.core.errors import MeshError

MAX_FILE_BYTES = 512 << 20
MAX_TRIANGLES = 20_000_000
MAX_VERTICES = 20_000_000


def check_triangles(count: int) -> None:
    """Refuse a mesh whose triangles are too many, best before they are made."""
    if count > MAX_TRIANGLES:
        raise MeshError(
            f"has {_count(count)} triangles but at most {MAX_TRIANGLES} are read: "
            "reduce the mesh or split it"
        )


def check_vertices(count: int) -> None:
    """Refuse a mesh whose vertices are too many, best before they are made."""
    if count > MAX_VERTICES:
        raise MeshError(
            f"has {_count(count)} vertices but at most {MAX_VERTICES} are read: "
            "reduce the mesh or split it"
        )


def _count(count: int) -> str:
    """The count in digits, or rounded where only a damaged file has so many."""
    return str(count) if count < 10**15 else f"about {float(min(count, 10**300)):.0e}"
