"""Words on a picture: time, solver, scene."""

from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

CORNERS = ("upper left", "upper right", "lower left", "lower right")
PANEL = (22, 27, 36)                # behind the words, so that they are legible on anything
PANEL_OPACITY = 0.62
INK = (245, 247, 250)


def draw_labels(image, lines, *, corner="upper left", size=None):
    """The picture with lines of text in a corner, on a dark translucent panel; the picture given stays as it is.

    image: (height, width, 3) uint8.  lines: str, or a sequence of them; none leaves the picture as it is.
    corner: one of "upper left", "upper right", "lower left", "lower right".
    size: of the letters [pixels]; None: a fortieth of the height, at least 11. What does not fit is cut off.
    Raises ValueError for other pictures and corners.
    """
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(f"image has shape {image.shape} and type {image.dtype}, expected (height, width, 3) uint8")
    if corner not in CORNERS:
        raise ValueError(f"corner is {corner!r}, expected one of {', '.join(CORNERS)}")
    text = lines if isinstance(lines, str) else "\n".join(str(line) for line in lines)
    labelled = image.copy()
    if not text.strip():
        return labelled
    size = max(11, image.shape[0] // 40) if size is None else size
    opacity, ink = _stamp(text, size)

    margin = round(0.8 * size)
    rows = _place(opacity.shape[0], image.shape[0], margin, corner.startswith("lower"))
    columns = _place(opacity.shape[1], image.shape[1], margin, corner.endswith("right"))
    here = labelled[rows, columns]
    opacity, ink = opacity[:here.shape[0], :here.shape[1], None], ink[:here.shape[0], :here.shape[1], None]
    blended = here * (1 - opacity) + np.array(PANEL) * opacity
    labelled[rows, columns] = np.round(blended * (1 - ink) + np.array(INK) * ink).astype(np.uint8)
    return labelled


def _place(extent, room, margin, at_end):
    """The slice, along one side of the picture, where a stamp of that extent goes."""
    first = max(room - margin - extent, 0) if at_end else min(margin, room - 1)
    return slice(first, first + extent)


@lru_cache(maxsize=64)
def _stamp(text, size):
    """Opacity of the panel and of the ink, (height, width) each, 0 to 1; kept, as most labels stand for many frames."""
    font = ImageFont.load_default(size=size)
    spacing, border = round(0.35 * size), round(0.6 * size)
    ruler = ImageDraw.Draw(Image.new("L", (1, 1)))
    left, top, right, bottom = ruler.multiline_textbbox((0, 0), text, font, spacing=spacing)
    width, height = int(np.ceil(right - left)) + 2 * border, int(np.ceil(bottom - top)) + 2 * border
    sharper = 4                                         # round corners are drawn larger, and made smaller
    panel = Image.new("L", (sharper * width, sharper * height))
    outline = (0, 0, sharper * width - 1, sharper * height - 1)
    ImageDraw.Draw(panel).rounded_rectangle(outline, radius=sharper * 0.45 * size, fill=255)
    panel = panel.resize((width, height), Image.Resampling.BOX)
    ink = Image.new("L", (width, height))
    ImageDraw.Draw(ink).multiline_text((border - left, border - top), text, 255, font, spacing=spacing)
    return np.asarray(panel) / 255 * PANEL_OPACITY, np.asarray(ink) / 255
