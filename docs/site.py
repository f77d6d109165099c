"""A hook of mkdocs: pages that stand beside docs/ are part of the site too, under `project/`."""

import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).parents[1]
FOLDER: Final = "project"
PAGES: Final = ("CHANGELOG.md", "CONTRIBUTING.md", "benchmarks/README.md", "conformance/README.md")
_LINK: Final = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]*)(#[^)]*)?\)")


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    from mkdocs.structure.files import File

    for page in PAGES:
        files.append(File.generated(config, f"{FOLDER}/{page}", content=(ROOT / page).read_text()))
    return files


def on_page_markdown(markdown: str, page: "Page", config: "MkDocsConfig", files: "Files") -> str:
    """Links lead to pages of the site; what is only in the repository is named without a link."""
    uri = page.file.src_uri
    place = uri.removeprefix(f"{FOLDER}/") if uri.startswith(f"{FOLDER}/") else f"docs/{uri}"

    def link(found: re.Match[str]) -> str:
        target, anchor = found[1], found[2] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(place), target))
        inside = _in_site(path)
        if inside is None or files.get_file_from_path(inside) is None:
            return f"]({_GONE})"
        return f"]({posixpath.relpath(inside, posixpath.dirname(uri))}{anchor})"

    return re.sub(rf"\[([^\]]*)\]\({_GONE}\)", r"\1", _LINK.sub(link, markdown))


_GONE: Final = "repository"


def _in_site(path: str) -> str | None:
    """The page of the site for a path in the repository."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path == "README.md":
        return "index.md"
    return f"{FOLDER}/{path}" if path in PAGES else None
