"""Unpacks Blosc frames of LZ4, the compression that OpenVDB uses unless told otherwise.

Frames are those of Blosc 1, blocks those of the LZ4 block format; both are published
specifications. Other codecs, which OpenVDB never writes, are refused.
"""

import struct

import numpy as np

HEADER = struct.Struct("<BBBBIII")  # versions of format and codec, flags, type size, three sizes
SHUFFLED, STORED, BIT_SHUFFLED, WHOLE = 1, 2, 4, 16  # flags
LZ4 = 1
MAX_STREAMS = 16  # blocks of wider types are not split into one stream for each byte
MIN_STREAM = 128  # bytes; neither are small blocks
MIN_MATCH = 4  # bytes


def unpack(frame: bytes, size: int) -> bytes:
    """The `size` bytes that a frame holds; raises ValueError if it does not hold them."""
    if len(frame) < HEADER.size:
        raise ValueError("a Blosc frame is too short")
    _, _, flags, width, unpacked, block, packed = HEADER.unpack_from(frame)
    if unpacked != size or packed != len(frame):
        raise ValueError("a Blosc frame has another size")
    if flags & STORED:
        return _piece(frame, HEADER.size, size)
    if flags >> 5 != LZ4 or flags & BIT_SHUFFLED or not block or not width:
        raise ValueError("a Blosc frame is not of LZ4")
    starts = _starts(frame, -(-size // block))
    blocks = []
    for i, start in enumerate(starts):
        length = min(block, size - i * block)
        split = not flags & WHOLE and length == block and _splits(width, block)
        data = _block(frame, start, length, width if split else 1)
        blocks.append(_unshuffle(data, width) if flags & SHUFFLED and width > 1 else data)
    return b"".join(blocks)


def _starts(frame: bytes, count: int) -> tuple[int, ...]:
    if HEADER.size + 4 * count > len(frame):
        raise ValueError("a Blosc frame has too many blocks")
    return struct.unpack_from(f"<{count}I", frame, HEADER.size)


def _splits(width: int, block: int) -> bool:
    return width <= MAX_STREAMS and block // width >= MIN_STREAM and block % width == 0


def _block(frame: bytes, at: int, length: int, streams: int) -> bytes:
    share = length // streams
    pieces = []
    for _ in range(streams):
        (packed,) = struct.unpack("<I", _piece(frame, at, 4))
        piece = _piece(frame, at + 4, packed)
        pieces.append(piece if packed == share else unpack_lz4(piece, share))
        at += 4 + packed
    return b"".join(pieces)


def _piece(frame: bytes, at: int, length: int) -> bytes:
    piece = frame[at : at + length]
    if len(piece) != length:
        raise ValueError("a Blosc frame ends too early")
    return piece


def _unshuffle(data: bytes, width: int) -> bytes:
    """Puts together the bytes of each value, which stand apart in the file; a rest stays."""
    count = len(data) // width
    columns = np.frombuffer(data, np.uint8, count * width).reshape(width, count)
    return columns.T.tobytes() + data[count * width :]


def unpack_lz4(source: bytes, size: int) -> bytes:
    """The `size` bytes of an LZ4 block: runs of new bytes, each followed by a copy of old ones."""
    out = bytearray()
    at, end = 0, len(source)
    try:
        while at < end:
            token = source[at]
            run, at = _length(source, at + 1, token >> 4)
            out += source[at : at + run]
            at += run
            if at >= end:
                break
            back = source[at] | source[at + 1] << 8
            length, at = _length(source, at + 2, token & 15)
            _repeat(out, back, length + MIN_MATCH, size)
    except IndexError:
        raise ValueError("an LZ4 block ends too early") from None
    if at != end or len(out) != size:
        raise ValueError("an LZ4 block has another size")
    return bytes(out)


def _length(source: bytes, at: int, length: int) -> tuple[int, int]:
    """A length that goes on in further bytes when its four bits are full."""
    if length == 15:
        more = 255
        while more == 255:
            more = source[at]
            length += more
            at += 1
    return length, at


def _repeat(out: bytearray, back: int, length: int, size: int) -> None:
    """Appends bytes from further back, which may overlap with what is appended."""
    start = len(out) - back
    if not back or start < 0 or len(out) + length > size:
        raise ValueError("an LZ4 block points outside itself")
    if back >= length:
        out += out[start : start + length]
    else:
        out += (out[start:] * (length // back + 1))[:length]
