"""The documents, read as Markdown."""

from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def tokens(path):
    """The blocks of a document."""
    return MarkdownIt().enable("table").parse(path.read_text())


def fences(path, language):
    """The contents of a document's fenced blocks in a language."""
    return [token.content for token in tokens(path) if token.type == "fence" and token.info == language]


def runs(path):
    """A document's runs of text, each a list of what it is made of: words, code, links."""
    return [token.children for token in tokens(path) if token.type == "inline"]


def spans(path):
    """Code within a document's text."""
    return [part.content for run in runs(path) for part in run if part.type == "code_inline"]


def links(path):
    """What a document points to: links and pictures."""
    parts = [part for run in runs(path) for part in run]
    return [part.attrs.get("href") or part.attrs.get("src") for part in parts if part.type in ("link_open", "image")]


def behind_links(run):
    """Of a run of text the links, each with the code that follows it: [(address, [code, ...])].

    That is `one`, `two` behind a link and a space; a comma goes on, anything else ends it.
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
