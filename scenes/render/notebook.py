"""Recordings and comparisons in a notebook: films and replays within its page, and tables of facts.

Objects with `_repr_html_` are all that a notebook needs, so nothing here imports one.
"""

import base64
import html

from pbd.core.extras import load_extra
from pbd.core.files import temporary_folder
from pbd.core.messages import shown
from pbd.core.validate import one_of, whole
from scenes.registry import available, load
from scenes.render.comparison_film import film_comparison
from scenes.render.film import film

KINDS = ("replay", "video")
VIDEO = (
    '<video controls autoplay loop muted playsinline width="{width}" style="max-width: 100%" '
    'src="data:video/mp4;base64,{data}"></video>'
)
REPLAY = '<iframe width="{width}" height="{height}" style="border: 0; max-width: 100%" srcdoc="{data}"></iframe>'


class Shown:
    """What a notebook shows below a cell. Args: page: HTML; text: what Python shows where there is no notebook."""

    def __init__(self, page, text):
        self.page, self.text = page, text

    def _repr_html_(self):
        return self.page

    def __repr__(self):
        return self.text


def show_recording(recording, kind, scene, width, fps):
    """Film a recording for a notebook. Args, Returns, Raises: see Recording.show."""
    scene = scene_of(recording) if scene is None else scene

    def write(path, **size):
        film(scene, path, recording=recording, fps=fps, **size)

    return embedded(write, kind, width, f"scene {scene.name!r} by {recording.about.get('solver', '')!r}")


def show_comparison(comparison, kind, width, fps):
    """Film a comparison for a notebook. Args, Returns, Raises: see Comparison.show."""

    def write(path, **size):
        if size:
            film_comparison(comparison, path, "ghosts", fps=fps, **size)
        else:
            load_extra("scenes.render.page.replay", "view").replay(comparison, path, fps=fps)

    return embedded(write, kind, width, f"{len(comparison.traces)} runs of scene {comparison.scene.name!r}")


def embedded(write, kind, width, title):
    """A film or a replay as HTML.

    Args: write: function (path, width and height for a film) that writes a file; kind: of KINDS; width [pixels]; title.
    """
    one_of("kind", kind, KINDS)
    width, text = whole("width", width, least=64) // 2 * 2, f"{kind} of {title}: a notebook shows it"
    height = 2 * round(width * 9 / 32)
    with temporary_folder() as folder:
        if kind == "video":
            write(folder / "film.mp4", width=width, height=height)
            data = base64.b64encode((folder / "film.mp4").read_bytes()).decode()
            return Shown(VIDEO.format(width=width, data=data), text)
        load_extra("viser", "view")
        write(folder / "replay.html")
        data = html.escape((folder / "replay.html").read_text("utf-8"))
        return Shown(REPLAY.format(width=width, height=height, data=data), text)


def scene_of(recording):
    """The scene of a recording: the one that was run, or that of the catalogue which a file names.

    Raises: ValueError for a scene that is not in the catalogue.
    """
    if recording.scene is not None:
        return recording.scene
    name = recording.about.get("scene", "")
    if name not in available():
        raise ValueError(f"the recording is of scene {shown(name)}, which the catalogue does not have: expected scene=")
    return load(name, **recording.about.get("parameters", {}))


def table(rows, head=()):
    """A table as HTML. Args: rows: lists of texts; head: texts above the columns."""

    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{line(head, 'th') if head else ''}{''.join(line(row, 'td') for row in rows)}</table>"


def plain(value):
    """A value of a setting as text."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def table_of_recording(recording):
    """Facts of a recording as HTML."""
    about, count = recording.about, len(recording)
    rows = [
        ("scene", about.get("scene", "")),
        ("solver", about.get("solver", "")),
        ("settings", ", ".join(f"{name}={plain(value)}" for name, value in about.get("settings", {}).items())),
        ("frames", f"{count}, {recording.times[-1]:g} s" if count else "0"),
        ("particles, bodies", f"{recording.positions.shape[1]}, {recording.body_poses.shape[1]}"),
    ]
    if count:
        rows.append(("energy", f"{recording.energy[0, 2]:.6g} J at first, {recording.energy[-1, 2]:.6g} J at last"))
    return table(rows)
