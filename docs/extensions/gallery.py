"""The directive `gallery`: a card for each scene named, with its film and the command that makes it, or a picture."""

from html import escape
from pathlib import Path

from replays import FOLDER as REPLAYS  # from `make replays`
from replays import film_command
from repository_links import ROOT, address
from sphinx.util.docutils import SphinxDirective

from scenes.registry import available

MEDIA = ROOT / "media"

CARD = """\
:::{{grid-item-card}} {name}
{shown}

{summary}

<pre>{command}</pre>

{parameters}

{{.gallery-links}}
{links}
:::
"""

# A film plays while the pointer is on it or it has the focus.
FILM = (
    '<video loop muted playsinline preload="none" tabindex="0" {poster} src="{film}" onmouseenter="this.play()"'
    ' onmouseleave="this.pause()" onfocus="this.play()" onblur="this.pause()"></video>'
)
PICTURE = '<img src="{picture}" alt="{name}" loading="lazy">'


def card(name, entry, files):
    """Markdown of a scene.

    Args: name; entry: see scenes/registry.py; files: addresses of what the site has of its picture, film, replay and
    source, by these words.
    """
    links = {word: files[word] for word in ("source", "replay") if word in files}
    shown = ""
    if "film" in files:
        poster = f'poster="{files["picture"]}"' if "picture" in files else ""
        shown = FILM.format(film=files["film"], poster=poster)
    elif "picture" in files:
        shown = PICTURE.format(picture=files["picture"], name=name)
    return CARD.format(
        name=name,
        shown=shown,
        summary=entry.summary,
        command=" ".join(f"<span>{escape(word)}</span>" for word in film_command(name)),  # no break within a flag
        parameters=" ".join(f"`{key}={value}`" for key, value in entry.parameters.items()),
        links=" · ".join(f'<a href="{link}">{word}</a>' for word, link in links.items()),
    )


class Gallery(SphinxDirective):
    """Cards of the scenes that the content names."""

    has_content = True

    def files_of(self, name, entry):
        """Addresses on the site of the files of a scene, those that are there."""
        files = {
            "picture": MEDIA / f"{name}.png",
            "film": REPLAYS / f"{name}.mp4",
            "replay": REPLAYS / f"{name}.html",
            "source": Path(entry.build.__code__.co_filename),
        }
        there = {word: path.relative_to(ROOT) for word, path in files.items() if path.is_file()}
        return {word: address(self.env.app, self.env.docname, path) for word, path in there.items()}

    def run(self):
        """Nodes of the grid."""
        scenes = available()
        for name in set(" ".join(self.content).split()) - set(scenes):
            raise self.error(f"{name}: expected scenes of the catalogue")
        cards = [card(name, scenes[name], self.files_of(name, scenes[name])) for name in " ".join(self.content).split()]
        return self.parse_text_to_nodes("::::{grid} 1 2 3 3\n:gutter: 3\n\n" + "\n".join(cards) + "::::\n")


def setup(app):
    """Register the directive."""
    app.add_directive("gallery", Gallery)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
