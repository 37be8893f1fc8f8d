"""Links from the first mention of a term in a page to its row in docs/glossary.md, with the meaning as a tip.

The documents stay plain Markdown, and a new row of the glossary needs nothing else. Code, equations, titles, heads of
tables, links, paths and quoted names of solvers are left alone. Terms that the glossary has in italics are everyday
words, too, so they are linked only where a page has them in italics.
"""

import re
from pathlib import Path

from docutils import nodes

PAGES = re.compile("(concepts|course/.*|guides/.*|internals|limits|solvers/.*)$")
ROW = re.compile(r"^\| (\*?)([^|`*]+)\*? \| ([^|]+) \|", re.MULTILINE)


def terms(text):
    """Terms of the glossary: {term: (meaning, whether it is an everyday word)}. Args: text: its Markdown."""
    rows = (match.groups() for match in ROW.finditer(text) if match[2] not in ("term", "---"))
    return {term: (meaning, bool(mark)) for mark, names, meaning in rows for term in names.split(", ")}


def anchor(term):
    """The identifier of a term's row."""
    return nodes.make_id(f"term {term}")


def pattern(names, emphasised):
    """A pattern with a group for each term, in the singular or plural. Emphasised ones are the whole text."""
    forms = (f"{re.escape(name[:-1])}(?:y|ies)" if name[-1] == "y" else f"{re.escape(name)}s?" for name in names)
    either = "|".join(f"({form})" for form in forms) or r"\b\B"
    return re.compile(f"^(?:{either})$" if emphasised else rf'(?<![\w"/-])(?:{either})(?![\w"/-])', re.IGNORECASE)


def link_terms(doctree, known, page):
    """Link the first mention of each term. Args: doctree; known: see `terms`; page: address of the glossary."""
    left = sorted(known, key=len, reverse=True)  # the longest first
    heads = {id(text) for head in doctree.findall(nodes.thead) for text in head.findall(nodes.Text)}
    for text in [text for text in doctree.findall(nodes.Text) if id(text) not in heads]:
        emphasised = isinstance(text.parent, nodes.emphasis)
        if not isinstance(text.parent.parent if emphasised else text.parent, nodes.paragraph):
            continue
        names = [term for term in left if emphasised or not known[term][1]]
        parts, end = [], 0
        for match in pattern(names, emphasised).finditer(text):
            term = names[match.lastindex - 1]
            if term in left:
                left.remove(term)
                link = nodes.reference("", match[0], refuri=f"{page}#{anchor(term)}", internal=True, classes=["term"])
                link["reftitle"] = known[term][0].replace("`", "")
                parts += [nodes.Text(text[end : match.start()]), link]
                end = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def process(app, doctree):
    """Give the rows of the glossary identifiers, and link the terms in PAGES."""
    path, docname = Path(app.env.doc2path("glossary")), app.env.docname
    if docname == "glossary":
        for row in doctree.findall(nodes.row):
            row["ids"] += [anchor(term) for term in row[0].astext().split(", ")]
    elif PAGES.match(docname):
        app.env.note_dependency(str(path))
        link_terms(doctree, terms(path.read_text("utf-8")), app.builder.get_relative_uri(docname, "glossary"))


def setup(app):
    """Connect to the reading of documents."""
    app.connect("doctree-read", process)
    app.add_css_file("terms.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
