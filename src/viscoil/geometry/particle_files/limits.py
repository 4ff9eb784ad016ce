"""How much one particle file may ask for, and unpacking that stops there.

Sentences that readers raise have no subject: `read_particles` puts the name of the file before them.
"""

import zlib

from viscoil.core.errors import ParticleFileError

MAX_BYTES = 1 << 30
MAX_PARTICLES = 50_000_000
GZIP = b"\x1f\x8b"


def damaged(why: str) -> ParticleFileError:
    """What to raise when a file contradicts itself."""
    return ParticleFileError(f"is damaged ({why}): export it again")


def check_count(count: int) -> None:
    """Refuse a file with too many particles, or with none, best before they are read."""
    if count > MAX_PARTICLES:
        raise ParticleFileError(
            f"has {count} particles but at most {MAX_PARTICLES} are read: thin it out or split it"
        )
    if count <= 0:
        raise ParticleFileError("has no particles: export a frame that has some")


def unpacked(data: bytes, most: int = MAX_BYTES) -> bytes:
    """The bytes of a gzip or zlib stream, as long as they are not more than `most`."""
    stream = zlib.decompressobj(wbits=47)  # either kind, told by its header
    try:
        result = stream.decompress(data, most)
    except zlib.error:
        raise damaged("its compressed part cannot be unpacked") from None
    if stream.unconsumed_tail or len(result) >= most:
        raise ParticleFileError(f"unpacks to more than {most >> 20} MiB: thin it out or split it")
    if not stream.eof:
        raise damaged("its compressed part ends too early")
    return result
