"""Check of all links of the finished site: each leads to a file, and to a title or a line if it names one."""

import re
from pathlib import Path

from sphinx.util import logging

LOGGER = logging.getLogger(__name__)


def broken_links(site):
    """Links that lead nowhere, as pairs (page, target). Links to other sites are not followed. Args: site: a folder."""
    texts = {path: path.read_text("utf-8") for path in site.rglob("*.html") if not {"_static", "files"} & {*path.parts}}
    places = {path: set(re.findall(r'\b(?:id|name)="([^"]+)"', text)) for path, text in texts.items()}
    for path, text in texts.items():
        for target in sorted(set(re.findall(r'\b(?:href|src)="([^"]+)"', text))):
            file, _, place = target.partition("#")
            if not re.match("[a-z]+:", file):
                found = (path.parent / file.partition("?")[0]).resolve() if file else path
                if not found.exists() or (place and found in places and place not in places[found]):
                    yield path.relative_to(site).as_posix(), target


def check(app, failure):
    """Warn of each broken link."""
    if not failure and app.builder.format == "html":
        for page, target in broken_links(Path(app.outdir).resolve()):
            LOGGER.warning("%s: broken link %s", page, target)


def setup(app):
    """Check after everything is written and copied."""
    app.connect("build-finished", check, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
