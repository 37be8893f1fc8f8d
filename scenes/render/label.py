"""Text on pictures: time, solver, scene."""

from functools import lru_cache

import numpy as np
from PIL import Image, ImageColor, ImageDraw, ImageFont

CORNERS = ("upper left", "upper right", "lower left", "lower right")
PANEL_COLOUR = (22, 27, 36)  # behind the text, so that it is legible on any picture
PANEL_OPACITY = 0.62
TEXT_COLOUR = (245, 247, 250)
SUPERSAMPLING = 4  # round shapes are drawn larger, then scaled down


def draw_labels(image, lines, *, corner="upper left", size=None, swatches=()):
    """Copy a picture, and write lines of text into a corner on a dark translucent panel.

    Args:
        image: (height, width, 3) uint8.
        lines: a str, or a sequence of them. Text that does not fit is cut off. Without text the copy is unchanged.
        corner: one of CORNERS.
        size: of the letters [pixels]; None for a fortieth of the height, at least 11.
        swatches: for each line a colour "#rrggbb" in front of it, or None.

    Returns: (height, width, 3) uint8.

    Raises: ValueError for another image or corner.
    """
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8:
        raise ValueError(f"image has shape {image.shape} and type {image.dtype}: expected (height, width, 3) uint8")
    if corner not in CORNERS:
        raise ValueError(f"corner is {corner!r}: expected one of {', '.join(CORNERS)}")
    lines = lines.split("\n") if isinstance(lines, str) else [str(line) for line in lines]
    labelled = image.copy()
    if not "".join(lines).strip():
        return labelled
    size = max(11, image.shape[0] // 40) if size is None else size
    panel, colours, coverage = _draw_panel(tuple(lines), size, tuple(swatches))

    margin = round(0.8 * size)
    rows = _panel_slice(panel.shape[0], image.shape[0], margin, corner.startswith("lower"))
    columns = _panel_slice(panel.shape[1], image.shape[1], margin, corner.endswith("right"))
    background = labelled[rows, columns]
    panel, colours, coverage = (
        each[: background.shape[0], : background.shape[1]] for each in (panel, colours, coverage)
    )
    blended = background * (1 - panel) + np.array(PANEL_COLOUR) * panel
    labelled[rows, columns] = np.round(blended * (1 - coverage) + colours * coverage).astype(np.uint8)
    return labelled


def _panel_slice(extent, length, margin, at_end):
    """The slice of a panel along one side of the picture. Args: in pixels; at_end: whether it is the far end."""
    first = max(length - margin - extent, 0) if at_end else min(margin, length - 1)
    return slice(first, first + extent)


@lru_cache(maxsize=64)  # most labels stay the same for many frames
def _draw_panel(lines, size, swatches):
    """Draw a panel with text.

    Returns: opacity of the panel (height, width, 1), colours of text and swatches (height, width, 3), and their
    coverage (height, width, 1).
    """
    font = ImageFont.load_default(size=size)
    border, line_height = round(0.6 * size), round(1.35 * size)
    swatches = [*swatches, *[None] * len(lines)][: len(lines)]
    indents = [round(1.1 * size) if swatch else 0 for swatch in swatches]
    ruler = ImageDraw.Draw(Image.new("L", (1, 1)))
    _, top, _, _ = ruler.textbbox((0, 0), "H", font, anchor="ls")
    longest = max(ruler.textlength(line, font) + indent for line, indent in zip(lines, indents))
    width = int(np.ceil(longest)) + 2 * border
    height = (len(lines) - 1) * line_height - top + round(0.2 * size) + 2 * border

    def supersampled(mode, draw):
        large = Image.new(mode, (SUPERSAMPLING * width, SUPERSAMPLING * height))
        draw(ImageDraw.Draw(large))
        return large.resize((width, height), Image.Resampling.BOX)

    outline = (0, 0, SUPERSAMPLING * width - 1, SUPERSAMPLING * height - 1)
    radius = SUPERSAMPLING * 0.45 * size
    panel = supersampled("L", lambda canvas: canvas.rounded_rectangle(outline, radius=radius, fill=255))
    text = Image.new("L", (width, height))
    colours = np.broadcast_to(np.array(TEXT_COLOUR, dtype=float), (height, width, 3)).copy()
    dots = np.zeros((height, width))
    for number, (line, swatch, indent) in enumerate(zip(lines, swatches, indents)):
        baseline = border - top + number * line_height
        ImageDraw.Draw(text).text((border + indent, baseline), line, 255, font, anchor="ls")
        if swatch:
            middle, radius = (border + 0.38 * size, baseline + top / 2), 0.38 * size
            ellipse = [SUPERSAMPLING * (at + sign * radius) for sign in (-1, 1) for at in middle]
            dot = np.asarray(supersampled("L", lambda canvas, ellipse=ellipse: canvas.ellipse(ellipse, fill=255))) / 255
            colours[dot > 0] = ImageColor.getrgb(swatch)
            dots = np.maximum(dots, dot)
    coverage = np.maximum(np.asarray(text) / 255, dots)
    return np.asarray(panel)[..., None] / 255 * PANEL_OPACITY, colours, coverage[..., None]
