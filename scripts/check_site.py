"""Says what is wrong with a built site: check_site.py FOLDER

A page must load nothing from elsewhere, so that it can be read without a network, and every link
within the site must lead to a file that is there, and to a place in it that is there.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ADDRESSES = ("href", "src", "data", "poster", "action")
STYLE_ADDRESS = re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)")


class Page(HTMLParser):
    """What a page loads, where it links to, and the places in it that can be linked to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.places.add(value)
            if value and name in ADDRESSES:
                (self.links if tag == "a" else self.loads).append(value)


page_at = cache(Page)


def problems(site: Path) -> Iterator[str]:
    """A sentence for each thing that is wrong."""
    for path in sorted(site.rglob("*.html")):
        page, name = page_at(path), path.relative_to(site)
        for address in filter(is_elsewhere, page.loads):
            yield f"{name} loads {address}"
        for address in page.loads + page.links:
            if not (is_elsewhere(address) or leads_somewhere(address, path, site)):
                yield f"{name} links to {address}, which is not there"
    for path in sorted(site.rglob("*.css")):
        for address in STYLE_ADDRESS.findall(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(site)} loads {address}"


def is_elsewhere(address: str) -> bool:
    """Whether it is on another machine."""
    return bool(urlsplit(address).netloc)


def leads_somewhere(address: str, path: Path, site: Path) -> bool:
    """Whether an address in the page at `path` names a file of the site and a place in it."""
    parts = urlsplit(address)
    if parts.scheme:  # data: and mailto:
        return True
    folder = site if parts.path.startswith("/") else path.parent
    target = (folder / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return False
    place = unquote(parts.fragment)
    return not place or target.suffix != ".html" or place in page_at(target).places


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    found = list(problems(site))
    for problem in found:
        print(f"check_site: {problem}", file=sys.stderr)
    pages = len(list(site.rglob("*.html")))
    if not pages:
        sys.exit(f"check_site: there are no pages in {site}")
    print(f"{pages} pages in {site}")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
