"""Links from documents to files of the repository.

A link to a source file opens a page of the site with its text. Pictures and films are copied. So the site needs no
other place, and a link that leads nowhere is a warning.
"""

import importlib
import inspect
import re
import shutil
from functools import partial
from operator import attrgetter
from pathlib import Path

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import TextLexer, get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx import addnodes

ROOT = Path(__file__).parents[2]
COPIED = (".gif", ".html", ".mp4", ".png", ".svg")
IN_TAGS = re.compile(r'\b(?P<name>src|poster)="(?P<file>[\w./-]+)"')
BEFORE_COLLECTORS = 100  # so that Sphinx does not offer the files as downloads


def in_repository(app, docname, target):
    """The file that a link of a document names, relative to ROOT; None if there is none.

    CONTRIBUTING.md and CHANGELOG.md are included from ROOT, so their links may begin there.
    """
    for folder in (Path(app.env.doc2path(docname)).parent, ROOT):
        path = (folder / target).resolve()
        if target and path.is_file() and path.is_relative_to(ROOT):
            return path.relative_to(ROOT)
    return None


def source_page(path):
    """Where the site has a file of the repository, without ".html". Args: path: relative to ROOT."""
    return f"source/{path.as_posix()}"


def address(app, docname, path):
    """Address of a file of the repository on the site, from a document. It will be written there."""
    app.env.repository_files.setdefault(docname, set()).add(path.as_posix())
    here = app.builder.get_target_uri(docname).count("/") * "../"
    return here + (f"files/{path.as_posix()}" if path.suffix in COPIED else source_page(path) + ".html")


def resolve(app, doctree):
    """Replace links to files of the repository in a document that was read."""
    docname = app.env.docname
    kinds = (addnodes.download_reference, addnodes.pending_xref)
    for node in list(doctree.findall(lambda node: isinstance(node, kinds) and not node.get("refdomain"))):
        target, mark, title = node["reftarget"].partition("#")
        path = in_repository(app, docname, target)
        if path is None:
            continue
        document = app.env.path2doc(str(ROOT / path))
        if document in app.env.found_docs:
            uri = app.builder.get_relative_uri(docname, document) + mark + title
        else:
            uri = address(app, docname, path)
        node.replace_self(nodes.reference("", "", *node.children, refuri=uri, internal=True))
    for node in doctree.findall(nodes.raw):
        node[:] = [nodes.Text(IN_TAGS.sub(partial(with_address, app, docname), node.astext()))]


def with_address(app, docname, found):
    """The attribute of an HTML tag that names a file of the repository, with its address on the site; else the same."""
    path = in_repository(app, docname, found["file"])
    return found[0] if path is None else f'{found["name"]}="{address(app, docname, path)}"'


def source_of(app, info):
    """Address of the source of a documented name, for sphinx.ext.linkcode; None for what is no class or function."""
    value = attrgetter(info["fullname"])(importlib.import_module(info["module"]))
    value = inspect.unwrap(getattr(value, "fget", None) or value)
    try:
        path = Path(inspect.getsourcefile(value)).relative_to(ROOT)
        line = inspect.getsourcelines(value)[1]
    except (TypeError, ValueError):  # a constant, or from another project
        return None
    return f"{address(app, app.env.docname, path)}#line-{line}"


def link_names(app, config):
    """Tell sphinx.ext.linkcode where sources are."""
    config.linkcode_resolve = lambda domain, info: source_of(app, info)


def remember(app, env, docnames):
    """Start the list of files that each document links to."""
    env.repository_files = getattr(env, "repository_files", {})


def forget(app, env, docname):
    """Drop the list of a document that is read again."""
    env.repository_files.pop(docname, None)


def pages(app):
    """Pages with the text of all linked files."""
    found = sorted(set().union(*app.env.repository_files.values()))
    for name in (name for name in found if Path(name).suffix not in COPIED):
        text = (ROOT / name).read_text("utf-8")
        try:
            lexer = get_lexer_for_filename(name)
        except ClassNotFound:
            lexer = TextLexer()
        form = HtmlFormatter(linenos="inline", lineanchors="line", anchorlinenos=True)
        body = f"<h1>{name}</h1>\n{highlight(text, lexer, form)}"
        yield source_page(Path(name)), {"title": name, "body": body}, "page.html"


def copy(app, failure):
    """Copy linked pictures, films and replays."""
    if failure or app.builder.format != "html":
        return
    for name in sorted(set().union(*app.env.repository_files.values())):
        if Path(name).suffix in COPIED:
            target = Path(app.outdir) / "files" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)


def setup(app):
    """Connect to the steps of a build."""
    app.connect("config-inited", link_names)
    app.connect("env-before-read-docs", remember)
    app.connect("env-purge-doc", forget)
    app.connect("doctree-read", resolve, priority=BEFORE_COLLECTORS)
    app.connect("html-collect-pages", pages)
    app.connect("build-finished", copy)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
