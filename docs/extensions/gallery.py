"""The directive `gallery`: a card for each scene of the catalogue, with its picture and the command that makes it."""

from html import escape
from pathlib import Path

from repository_links import ROOT, address
from sphinx.util.docutils import SphinxDirective

from scenes.registry import available

MEDIA = ROOT / "media"
REPLAYS = ROOT / "build" / "replays"  # from `make replays`

CARD = """\
:::{{grid-item-card}} {name}
{picture}
{summary}

<pre>{command}</pre>

{parameters}

{{.gallery-links}}
{links}
:::
"""


PICTURE = """\
:img-top: ../media/{name}.png
:img-alt: {name}
:class-img-top: gallery-picture
"""


def card(name, entry, links):
    """Markdown of a scene. Args: name; entry: see scenes/registry.py; links: Markdown with links."""
    words = entry.picture_command.split()
    return CARD.format(
        name=name,
        picture=PICTURE.format(name=name) if (MEDIA / f"{name}.png").is_file() else "",
        summary=entry.summary,
        command=" ".join(f"<span>{escape(word)}</span>" for word in words),  # no break after the dash of a flag
        parameters=" ".join(f"`{key}={value}`" for key, value in entry.parameters.items()),
        links=links,
    )


class Gallery(SphinxDirective):
    """Cards of all scenes."""

    def links(self, scene, source):
        """Markdown with links of a scene: source, film, replay."""
        files = {"source": source, "film": MEDIA / f"{scene}.mp4", "replay": REPLAYS / f"{scene}.html"}
        here = self.env.docname
        found = {word: path.relative_to(ROOT) for word, path in files.items() if path.is_file()}
        return " · ".join(f'<a href="{address(self.env.app, here, path)}">{word}</a>' for word, path in found.items())

    def run(self):
        """Nodes of the grid."""
        cards = []
        for name, entry in available().items():
            cards.append(card(name, entry, self.links(name, Path(entry.build.__code__.co_filename))))
        return self.parse_text_to_nodes("::::{grid} 1 2 3 3\n:gutter: 3\n\n" + "\n".join(cards) + "::::\n")


def setup(app):
    """Register the directive."""
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
