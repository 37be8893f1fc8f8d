"""Labels on pictures."""

import numpy as np
import pytest

from scenes.render import draw_labels


@pytest.mark.parametrize("shade", [0, 128, 255])
def test_labels_are_legible_on_any_picture(shade):
    picture = np.full((180, 320, 3), shade, dtype=np.uint8)
    labelled = draw_labels(picture, ["drape", "t = 1.25 s"])
    assert np.all(picture == shade)                                     # the given picture is unchanged
    changed = np.any(labelled != picture, axis=2)
    rows, columns = np.nonzero(changed)
    assert rows.max() < 60
    assert columns.max() < 120
    panel = labelled[rows.min():rows.max(), columns.min():columns.max()].astype(int).sum(axis=2) / 3
    assert panel.max() > 235                                            # the text
    assert np.median(panel) < 125                                       # the panel behind it


@pytest.mark.parametrize(("corner", "row", "column"), [("upper left", 0, 0), ("upper right", 0, 1),
                                                       ("lower left", 1, 0), ("lower right", 1, 1)])
def test_corners(corner, row, column):
    picture = np.full((200, 300, 3), 200, dtype=np.uint8)
    rows, columns = np.nonzero(np.any(draw_labels(picture, "drape", corner=corner) != 200, axis=2))
    assert (rows.mean() > 100) == row
    assert (columns.mean() > 150) == column


def test_more_lines_need_more_area():
    picture = np.full((200, 300, 3), 200, dtype=np.uint8)
    def area(lines):
        return np.any(draw_labels(picture, lines) != 200, axis=2).sum()
    assert area([]) == 0
    assert area("") == 0
    assert 0 < area("one") < area(["one", "two"]) < area(["one", "two", "three"])


def test_long_text_is_cut_off():
    assert draw_labels(np.zeros((8, 8, 3), dtype=np.uint8), ["a long line", "another"]).shape == (8, 8, 3)


def test_invalid_picture_or_corner():
    with pytest.raises(ValueError, match="uint8"):
        draw_labels(np.zeros((8, 8, 3)), "t")
    with pytest.raises(ValueError, match="expected one of upper left"):
        draw_labels(np.zeros((8, 8, 3), dtype=np.uint8), "t", corner="middle")
