"""Words on a picture: time, solver, scene."""

from functools import lru_cache

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

CORNERS = ("upper left", "upper right", "lower left", "lower right")
PANEL = (22, 27, 36)                # behind the words, so that they are legible on anything
PANEL_OPACITY = 0.62
INK = (245, 247, 250)


def draw_labels(image, lines, *, corner="upper left", size=None, swatches=()):
    """The picture with lines of text in a corner, on a dark translucent panel; the picture given stays as it is.

    image: (height, width, 3) uint8.  lines: str, or a sequence of them; none leaves the picture as it is.
    corner: one of "upper left", "upper right", "lower left", "lower right".
    size: of the letters [pixels]; None: a fortieth of the height, at least 11. What does not fit is cut off.
    swatches: a colour "#rrggbb" before each line, or None where there is none.
    Raises ValueError for other pictures and corners.
    """
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(f"image has shape {image.shape} and type {image.dtype}, expected (height, width, 3) uint8")
    if corner not in CORNERS:
        raise ValueError(f"corner is {corner!r}, expected one of {', '.join(CORNERS)}")
    lines = lines.split("\n") if isinstance(lines, str) else [str(line) for line in lines]
    labelled = image.copy()
    if not "".join(lines).strip():
        return labelled
    size = max(11, image.shape[0] // 40) if size is None else size
    opacity, paint, ink = _stamp(tuple(lines), size, tuple(swatches))

    margin = round(0.8 * size)
    rows = _place(opacity.shape[0], image.shape[0], margin, corner.startswith("lower"))
    columns = _place(opacity.shape[1], image.shape[1], margin, corner.endswith("right"))
    here = labelled[rows, columns]
    opacity, paint, ink = (each[:here.shape[0], :here.shape[1]] for each in (opacity, paint, ink))
    blended = here * (1 - opacity) + np.array(PANEL) * opacity
    labelled[rows, columns] = np.round(blended * (1 - ink) + paint * ink).astype(np.uint8)
    return labelled


def _place(extent, room, margin, at_end):
    """The slice, along one side of the picture, where a stamp of that extent goes."""
    first = max(room - margin - extent, 0) if at_end else min(margin, room - 1)
    return slice(first, first + extent)


@lru_cache(maxsize=64)
def _stamp(lines, size, swatches):
    """Opacity of the panel (height, width, 1), colours of what stands on it (height, width, 3), and how opaque that is;
    kept, as most labels stand for many frames."""
    font = ImageFont.load_default(size=size)
    border, pitch = round(0.6 * size), round(1.35 * size)
    swatches = [*swatches, *[None] * len(lines)][:len(lines)]
    indents = [round(1.1 * size) if swatch else 0 for swatch in swatches]
    ruler = ImageDraw.Draw(Image.new("L", (1, 1)))
    _, top, _, _ = ruler.textbbox((0, 0), "H", font, anchor="ls")
    longest = max(ruler.textlength(line, font) + indent for line, indent in zip(lines, indents))
    width = int(np.ceil(longest)) + 2 * border
    height = (len(lines) - 1) * pitch - top + round(0.2 * size) + 2 * border
    sharper = 4                                         # round corners are drawn larger, and made smaller

    def drawn(mode, draw):
        picture = Image.new(mode, (sharper * width, sharper * height))
        draw(ImageDraw.Draw(picture))
        return picture.resize((width, height), Image.Resampling.BOX)

    outline = (0, 0, sharper * width - 1, sharper * height - 1)
    panel = drawn("L", lambda on: on.rounded_rectangle(outline, radius=sharper * 0.45 * size, fill=255))
    text = Image.new("L", (width, height))
    paint = np.broadcast_to(np.array(INK, dtype=float), (height, width, 3)).copy()
    spots = np.zeros((height, width))
    for number, (line, swatch, indent) in enumerate(zip(lines, swatches, indents)):
        baseline = border - top + number * pitch
        ImageDraw.Draw(text).text((border + indent, baseline), line, 255, font, anchor="ls")
        if swatch:
            middle, radius = (border + 0.38 * size, baseline + top / 2), 0.38 * size
            spot = [sharper * (at + way * radius) for way in (-1, 1) for at in middle]
            dot = np.asarray(drawn("L", lambda on, spot=spot: on.ellipse(spot, fill=255))) / 255
            paint[dot > 0] = ImageColor.getrgb(swatch)
            spots = np.maximum(spots, dot)
    ink = np.maximum(np.asarray(text) / 255, spots)
    return np.asarray(panel)[..., None] / 255 * PANEL_OPACITY, paint, ink[..., None]
