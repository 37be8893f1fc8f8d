"""Reading the documents as Markdown."""

import importlib.util
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def loaded(path):
    """The module of a file that is in no package."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def tokens(path):
    """The blocks of a document."""
    return MarkdownIt().enable("table").parse(path.read_text(encoding="utf-8"))


def fences(path, language):
    """Contents of the fenced blocks of a document in one language."""
    return [token.content for token in tokens(path) if token.type == "fence" and token.info == language]


def runs(path):
    """Runs of text of a document. Each is a list of parts: text, code, links."""
    return [token.children for token in tokens(path) if token.type == "inline"]


def spans(path):
    """Code within the text of a document."""
    return [part.content for run in runs(path) for part in run if part.type == "code_inline"]


def names_behind_links(run):
    """Links of a run of text, each with the code spans behind it: [(target, [code, ...])].

    Code spans belong to a link if they follow it: "[file] `one`, `two`". A space or a comma may separate them. Any
    other text ends the list.
    """
    found, names = [], None
    for part in run:
        if part.type == "link_open":
            found.append((part.attrs["href"], []))
            names = None
        elif part.type == "link_close":
            names = found[-1][1]
        elif names is not None and part.type == "code_inline":
            names.append(part.content)
        elif part.type == "text" and part.content.strip() not in ("", ","):
            names = None
    return found
