"""Finds the line of a key in TOML text, which tomllib does not tell.

The text has been parsed before, so it is known to be valid: this scanner only has to follow
strings, comments and brackets well enough to see where each key stands.
"""

from bisect import bisect_right
from collections.abc import Iterator

Path = tuple[str | int, ...]

_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}
_ESCAPE_LENGTH = {"u": 4, "U": 8, "x": 2}


class KeyLines:
    """Lines (counted from 1) of every table, key and array element of a valid TOML text."""

    def __init__(self, text: str) -> None:
        self._text = text.replace("\r\n", "\n")
        self._starts = [0, *(i + 1 for i, c in enumerate(self._text) if c == "\n")]
        self._at = 0
        self.lines: dict[Path, int] = {}
        self._scan()

    def find(self, path: Path) -> int | None:
        """Line of the key, else of the nearest table around it, else None."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None

    def _scan(self) -> None:
        table: Path = ()
        while self._skip_blank():
            if self._text.startswith("[[", self._at):
                table = self._array_header()
            elif self._peek() == "[":
                table = self._header()
            else:
                self._pair(table)

    def _header(self) -> Path:
        self._at += 1
        path = self._resolve(self._keys())
        self._at += 1
        return path

    def _array_header(self) -> Path:
        self._at += 2
        *parents, last = self._keys()
        self._at += 2
        array = (*self._resolve(parents), last)
        self._note(array)
        count = sum(1 for p in self.lines if len(p) == len(array) + 1 and p[:-1] == array)
        return self._note((*array, count))

    def _resolve(self, keys: list[str]) -> Path:
        """The path that a header means: a name of an array of tables means its last element."""
        path: Path = ()
        for key in keys:
            path = self._note((*path, key))
            indices = [p[-1] for p in self.lines if len(p) == len(path) + 1 and p[:-1] == path]
            numbers = [i for i in indices if isinstance(i, int)]
            if numbers:
                path = (*path, max(numbers))
        return path

    def _pair(self, table: Path) -> None:
        path = table
        for key in self._keys():
            path = self._note((*path, key))
        self._at += 1  # the equals sign
        self._value(path)

    def _note(self, path: Path) -> Path:
        """Remember the first line of a path."""
        self.lines.setdefault(path, bisect_right(self._starts, self._at))
        return path

    def _keys(self) -> list[str]:
        """A dotted key, up to the sign behind it."""
        keys = [self._key()]
        while self._peek() == ".":
            self._at += 1
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        self._skip_spaces()
        if self._peek() in "\"'":
            key = self._string()
        else:
            start = self._at
            while self._peek().isalnum() or self._peek() in ("-", "_"):
                self._at += 1
            key = self._text[start : self._at]
        self._skip_spaces()
        return key

    def _value(self, path: Path) -> None:
        self._skip_spaces()
        sign = self._peek()
        if sign == "[":
            self._array(path)
        elif sign == "{":
            self._inline_table(path)
        elif sign in ("'", '"'):
            self._string()
        else:
            while self._peek() not in ("", "\n", ",", "]", "}", "#"):
                self._at += 1

    def _array(self, path: Path) -> None:
        for index, _ in enumerate(self._items("]")):
            self._value(self._note((*path, index)))

    def _inline_table(self, path: Path) -> None:
        for _ in self._items("}"):
            self._pair(path)

    def _items(self, end: str) -> Iterator[None]:
        """Stop at each item between brackets; the caller reads it."""
        self._at += 1
        while self._skip_blank() and self._peek() != end:
            yield
            self._skip_blank()
            if self._peek() == ",":
                self._at += 1
        self._at += 1

    def _string(self) -> str:
        quote = self._peek()
        mark = quote * 3 if self._text.startswith(quote * 3, self._at) else quote
        self._at += len(mark)
        parts: list[str] = []
        while not self._text.startswith(mark, self._at):
            parts.append(self._character(quote))
        self._at += len(mark)
        while len(mark) == 3 and self._peek() == quote:  # quotes that belong to the text
            self._at += 1
        return "".join(parts)

    def _character(self, quote: str) -> str:
        sign = self._peek()
        self._at += 1
        if sign != "\\" or quote == "'":
            return sign
        escape = self._peek()
        self._at += 1
        length = _ESCAPE_LENGTH.get(escape, 0)
        digits = self._text[self._at : self._at + length]
        self._at += length
        return chr(int(digits, 16)) if length else _ESCAPES.get(escape, escape)

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _skip_spaces(self) -> None:
        while self._peek() in (" ", "\t"):
            self._at += 1

    def _skip_blank(self) -> bool:
        """Pass spaces, line ends and comments; whether anything is left."""
        while self._peek() in (" ", "\t", "\n", "#") and self._peek():
            if self._peek() == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                self._at += 1
        return self._at < len(self._text)
