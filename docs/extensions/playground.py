"""The directive `playground`: recorded runs of a scene, from which sliders choose, in a page that needs no server.

docs/playground_runs.py records the runs, and docs/static/playground.js draws them.
"""

import shutil
from pathlib import Path

import playground_runs
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

PLACE = '<div class="playground" data-name="{name}"></div>\n<script src="{address}"></script>\n'


class Playground(SphinxDirective):
    """The place of a playground in a page. Its argument is a name of playground_runs.PLAYGROUNDS."""

    required_arguments = 1

    def run(self):
        """Nodes of the place."""
        (name,) = self.arguments
        if name not in playground_runs.PLAYGROUNDS:
            raise self.error(f"{name}: expected a playground, one of {', '.join(playground_runs.PLAYGROUNDS)}")
        up = self.env.app.builder.get_target_uri(self.env.docname).count("/") * "../"
        text = PLACE.format(name=name, address=f"{up}files/playground/{name}.js")
        return [nodes.raw("", text, format="html")]


def copy(app, failure):
    """Record the runs if they are missing, and copy them to the site."""
    if failure or app.builder.format != "html":
        return
    playground_runs.main([])
    target = Path(app.outdir) / "files" / "playground"
    target.mkdir(parents=True, exist_ok=True)
    for name in playground_runs.PLAYGROUNDS:
        shutil.copy(playground_runs.FOLDER / f"{name}.js", target)


def setup(app):
    """Register the directive."""
    app.add_directive("playground", Playground)
    app.add_js_file("playground.js")
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
