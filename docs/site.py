"""A hook of mkdocs. The site also has pages from outside docs/, under `project/`, and a page for each
finding, under `found/`. Pictures that have a dark form are dark on dark pages."""

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from found.finding import findings
from found.page import site_page

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[1]
PAGES: Final = {
    "CHANGELOG.md": "project/CHANGELOG.md",
    "CONTRIBUTING.md": "project/CONTRIBUTING.md",
    # Not README.md, which would be the page of the section that it is in.
    "benchmarks/README.md": "project/benchmarks.md",
    "conformance/README.md": "project/conformance.md",
}
"""Where each is in the site."""
_PLACES: Final = {inside: page for page, inside in PAGES.items()}
_PICTURE: Final = re.compile(r"(!\[[^\]]*\])\((\S+)\.png\)")
_LINK: Final = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]*)(#[^)]*)?\)")


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    from mkdocs.structure.files import File

    for page, inside in PAGES.items():
        files.append(File.generated(config, inside, content=(ROOT / page).read_text()))
    for finding in findings():
        files.append(File.generated(config, f"found/{finding.name}.md", content=site_page(finding)))
    return files


def on_page_markdown(markdown: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Links lead to pages of the site; what is only in the repository is named without a link."""
    uri = page.file.src_uri
    place = _PLACES.get(uri, f"docs/{uri}")

    def link(found: re.Match[str]) -> str:
        target, anchor = found[1], found[2] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
        inside = _in_site(path)
        if inside is None or files.get_file_from_path(inside) is None:
            return f"]({_GONE})"
        return f"]({posixpath.relpath(inside, posixpath.dirname(uri))}{anchor})"

    def picture(found: re.Match[str]) -> str:
        text, path = found.groups()
        dark = posixpath.normpath(posixpath.join(posixpath.dirname(uri), f"{path}-dark.png"))
        if files.get_file_from_path(dark) is None:
            return found[0]
        return f"{text}({path}.png#only-light){text}({path}-dark.png#only-dark)"

    linked = re.sub(rf"\[([^\]]*)\]\({_GONE}\)", r"\1", _LINK.sub(link, markdown))
    return _PICTURE.sub(picture, linked)


_GONE: Final = "repository"


def _in_site(path: str) -> str | None:
    """The page of the site for a path in the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path == "README.md":
        return "index.md"
    if path.startswith("found/"):
        return f"{path}.md"
    return PAGES.get(path)
