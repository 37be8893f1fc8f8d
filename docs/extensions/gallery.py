"""The directive `gallery`: a card for each scene of the catalogue, with its picture and the command that makes it."""

import re
from html import escape
from pathlib import Path

from repository_links import ROOT, address
from sphinx.util.docutils import SphinxDirective

from scenes.registry import available

MEDIA = ROOT / "media"
REPLAYS = ROOT / "build" / "replays"  # from `make replays`

CARD = """\
:::{{grid-item-card}} {name}
:img-top: {picture}
:img-alt: {name}
:class-img-top: gallery-picture

{summary}

<pre>{command}</pre>

{parameters}

{{.gallery-links}}
{links}
:::
"""


def commands():
    """Commands of media/make.sh that make pictures: {scene: command}."""
    script = (MEDIA / "make.sh").read_text("utf-8")
    pattern = re.search(r"^picture\(\) \{.*?(verletlab .*?) --quiet .*\}$", script, re.MULTILINE).group(1)
    found = {}
    for scene, seconds, flags in re.findall(r"^picture (\w+) (\S+)(.*)$", script, re.MULTILINE):
        values = {'"$scene"': scene, '"$scene.png"': f"{scene}.png", '"$seconds"': seconds}
        found[scene] = " ".join(values.get(word, word) for word in pattern.split()) + flags
    return found


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
        made, cards = commands(), []
        for name, entry in available().items():
            source = Path(entry.build.__code__.co_filename)
            words = (f"<span>{escape(word)}</span>" for word in made[name].split())  # no break after the dash of a flag
            cards.append(
                CARD.format(
                    name=name,
                    picture=f"../media/{name}.png",
                    summary=entry.summary,
                    command=" ".join(words),
                    parameters=" ".join(f"`{key}={value}`" for key, value in entry.parameters.items()),
                    links=self.links(name, source),
                )
            )
        return self.parse_text_to_nodes("::::{grid} 1 2 3 3\n:gutter: 3\n\n" + "\n".join(cards) + "::::\n")


def setup(app):
    """Register the directive."""
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
