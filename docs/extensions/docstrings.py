"""Docstrings of verletlab, as reStructuredText: one line, then Args, Returns, Raises, then the source.

Sections stand in a block or in a line: "Args: name: of the scene; duration [s]." The rest is plain text with `code`,
lists and indented blocks of code.
"""

import re
from inspect import cleandoc
from textwrap import dedent, indent

TITLES = r"Args(?: \([^)]*\))?|Attributes|Returns|Yields|Raises"
INLINE = re.compile(rf"(?:^|(?<=[.:;)\]!?] ))({TITLES}):(?=\s|$)", re.MULTILINE)


def escaped(text):
    """A text whose `code` stays code, and in which no other character has a meaning."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(
        f"`{part}`" if k % 2 else re.sub(r"([\\*|]|_(?!\w)|`)", r"\\\1", part) for k, part in enumerate(parts)
    )


def items(body):
    """Items of Args, each (names, text). In a block each begins a line, in a line semicolons are between them."""
    if body.startswith("\n"):
        texts = re.split(r"\n(?=\S)", dedent(body.strip("\n")))
    else:
        texts = re.split(r";\s+(?=[\w*, ]+(?:[:;. \[(]|$))", body)
    for text in texts:
        names, _, rest = " ".join(text.split()).partition(": ")
        named = rest and re.fullmatch(r"[\w*, .]+(?: [\[(].*[\])])?", names)
        yield (names, rest) if named else ("", names + ": " * bool(rest) + rest)


def section(title, body):
    """A section as a field: a list of names for Args and Attributes, else text."""
    if title.startswith(("Args", "Attributes")):
        rows = [f"* ``{names}``: {escaped(rest)}" if names else f"* {escaped(rest)}" for names, rest in items(body)]
        return f":{title}:\n" + indent("\n".join(rows), "    ")
    return f":{title}: {escaped(' '.join(body.split()))}"


def paragraphs(text):
    """Text as reStructuredText: indented blocks are code, lines that begin with a dash are items of a list."""
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.splitlines()
        code = next((k for k, line in enumerate(lines) if line.startswith("    ")), len(lines))
        for part in re.split(r"\n(?=- )", "\n".join(lines[:code])):
            words = escaped(" ".join(part.split()))
            yield f"* {words[2:]}" if words.startswith("- ") else words
        yield "::\n\n" + indent(dedent("\n".join(lines[code:])), "    ") if code < len(lines) else ""


def converted(docstring):
    """A docstring as reStructuredText. Args: docstring: its text."""
    summary, *parts = INLINE.split(cleandoc(docstring))
    blocks, fields = list(paragraphs(summary)), []
    for title, text in zip(parts[::2], parts[1::2]):
        body, _, rest = text.partition("\n\n")
        fields.append(section(title, body))
        blocks += paragraphs(rest)
    return "\n\n".join(part for part in (*blocks, *fields) if part)


def process(app, what, name, found, options, lines):
    """Convert the docstring of a name, for autodoc."""
    lines[:] = converted("\n".join(lines)).splitlines()


def setup(app):
    """Convert each docstring before autodoc writes it."""
    app.connect("autodoc-process-docstring", process)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
