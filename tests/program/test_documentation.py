"""The Python on the pages runs: page by page, in order, as a reader would who follows along.

The snippets of a page share their names and a folder, where two rules put the files they need:

- a block that comes after "Save this as `NAME`" is written to that file;
- Python in a comment `<!-- Tests run this first: ... -->` runs where it stands. Readers do not see it;
  it makes what the page takes for granted, such as a mesh or a small run.
"""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")))

PIECE = re.compile(
    r"^[ ]*<!-- Tests run this first:\n(?P<setup>.*?)-->"
    r"|^(?P<indent>[ ]*)```(?P<language>\w*)\n(?P<block>.*?)^(?P=indent)```[ ]*$",
    re.DOTALL | re.MULTILINE,
)
SAVE = re.compile(r"Save this as `([^`]+)`[^\n]*\s*\Z")


@dataclass(frozen=True)
class Piece:
    """A part of a page that does something: a file to write, code to run, or both."""

    text: str
    line: int
    """The number of its first line on the page, from 0 on."""
    is_code: bool
    file: str | None = None


def pieces(page: str) -> Iterator[Piece]:
    """In the order of the page."""
    for match in PIECE.finditer(page):
        group = "block" if match["setup"] is None else "setup"
        line = page.count("\n", 0, match.start(group))
        saved = SAVE.search(page, 0, match.start())
        file = saved[1] if saved else None
        is_code = group == "setup" or match["language"] == "python"
        if is_code or file:
            yield Piece(textwrap.dedent(match[group]), line, is_code, file)


def follow(page: str, name: str, folder: Path) -> None:
    """Does what a page says, in the present folder.

    The code of the page is kept as FOLDER/NAME.py, on the lines that it has on the page, for
    tracebacks and for what reads its own source, as kernels do.
    """
    lines = [""] * len(page.splitlines())
    names = {"__name__": "__main__"}
    source = folder / f"{name}.py"
    for piece in pieces(page):
        if piece.file:
            Path(piece.file).write_text(piece.text, encoding="utf-8")
        if piece.is_code:
            code = piece.text.splitlines()
            lines[piece.line : piece.line + len(code)] = code
            source.write_text("\n".join(lines), encoding="utf-8")
            exec(compile("\n" * piece.line + piece.text, source, "exec"), names)


def has_code(page: Path) -> bool:
    return any(piece.is_code for piece in pieces(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", [*filter(has_code, PAGES)], ids=lambda page: page.name)
def test_the_python_of_a_page_runs(
    page: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("reader")
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(folder)
    text = page.read_text(encoding="utf-8")
    follow(text, page.stem.replace("-", "_"), tmp_path_factory.mktemp("page"))


def test_no_python_is_missed() -> None:
    """Blocks are found by the word `python`, so no page may call it otherwise."""
    others = re.compile(r"^ *(?:```|~~~) *(?:py|Python|python3|pycon|\{\.?python)\b", re.MULTILINE)
    assert [page.name for page in PAGES if others.search(page.read_text(encoding="utf-8"))] == []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        blocks = [p for p in pieces(text) if p.is_code]
        assert len(blocks) >= text.count("```python"), page.name


PAGE = """\
Save this as `numbers.txt`:

```text
1 2 3
```

<!-- Tests run this first:
factor = 2
-->

```python
from pathlib import Path

numbers = [factor * int(n) for n in Path("numbers.txt").read_text().split()]
```

- In a list:

  ```python
  total = sum(numbers)
  Path("total.txt").write_text(str(total))
  ```

```python
raise ValueError(total)
```
"""


def test_the_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files, hidden code, shared names, and the line of the page in a traceback."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="12") as caught:
        follow(PAGE, "page", tmp_path)
    assert (tmp_path / "total.txt").read_text() == "12"
    assert str(caught.traceback[-1].statement) == "raise ValueError(total)"
    assert PAGE.splitlines()[caught.traceback[-1].lineno] == "raise ValueError(total)"


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    paths = [page.relative_to(ROOT).as_posix() for page in PAGES]
    assert [path for path in paths if path not in navigation] == []


def test_the_citation_names_the_version_of_the_package() -> None:
    versions = [
        re.findall(rf"^version{sign} *\"?([\w.]+)", (ROOT / name).read_text(encoding="utf-8"), re.M)
        for name, sign in (("CITATION.cff", ":"), ("pyproject.toml", " ="))
    ]
    assert versions[0] == versions[1] != []
