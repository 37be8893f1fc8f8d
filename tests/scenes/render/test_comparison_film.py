"""Several recordings in one film: panels, ghosts, colours and labels."""

import imageio.v2 as imageio
import numpy as np
import pytest
from sample_recordings import CAMERA, EDGE, STEP, comparison_of, recording_of, scene_of

import scenes
from scenes.render import Renderer, comparison_film
from scenes.render.comparison_film import GAP, GAP_COLOUR, film_comparison
from scenes.render.ghosts import OPACITY
from scenes.render.layers import Layer, blend_layers
from scenes.visuals import box, sphere
from scenes.visuals.colours import MORE, SOLVERS, rgb

TIMES = STEP * np.arange(11)


def entries_of(paths, scene=None):
    """A list for `film_comparison`. Args: paths: {label: x of a box (frames,)}; scene."""
    scene = scene or scene_of()
    return [(label, scene, recording_of(np.asarray(x, float), label)) for label, x in paths.items()]


def read(path):
    """Frames (count, height, width, 3), and frames per second."""
    with imageio.get_reader(path) as reader:
        return np.array([frame[..., :3] for frame in reader]).astype(int), reader.get_meta_data().get("fps")


def reddish(image):
    """Mask of the red box of `scene_of`."""
    return (image[..., 0] > image[..., 1] + 60) & (image[..., 0] > image[..., 2] + 60)


def column_of(x, width, height, camera=CAMERA):
    """Column in a picture of a point on the path of the box."""
    return camera.project((x, 0, 1), width, height)[0]


def hue(image, colour):
    """Similarity in hue between pixels and "#rrggbb": the cosine between both colours without their grey."""
    pixels, given = (np.asarray(each, float) for each in (image, rgb(colour)))
    pixels, given = pixels - pixels.mean(axis=-1, keepdims=True), given - given.mean()
    return pixels @ given / np.maximum(np.linalg.norm(pixels, axis=-1) * np.linalg.norm(given), 1e-9)


@pytest.fixture
def drawn_labels(monkeypatch):
    """The lines of all labels. The labels themselves are not drawn."""
    lines = []

    def draw_labels(image, text, **more):
        lines.append([text] if isinstance(text, str) else list(text))
        return image

    monkeypatch.setattr(comparison_film, "draw_labels", draw_labels)
    return lines


def test_grid():
    found = {count: comparison_film.grid(count) for count in (1, 2, 3, 4, 5, 7)}
    assert found == {1: (1, 1), 2: (2, 1), 3: (2, 2), 4: (2, 2), 5: (3, 2), 7: (3, 3)}


def test_panels_show_their_recordings(tmp_path, drawn_labels):
    labels = ["verlet", "impulse", "articulated", "penalty"]
    ways = (-0.8, -0.3, 0.4, 0.9)
    paths = {label: way * TIMES for label, way in zip(labels, ways)}
    calls = []
    count = film_comparison(entries_of(paths), tmp_path / "four.mp4", width=320, height=180, fps=10,
                            progress=lambda *now: calls.append(now))  # fmt: skip
    frames, fps = read(tmp_path / "four.mp4")
    assert count == len(frames) == len(TIMES) - 1  # each is shown for 0.1 s of the whole second
    assert calls == [(k, 10) for k in range(1, 11)]
    assert fps == pytest.approx(10)
    assert frames.shape[1:] == (180, 320, 3)
    width, height = (320 - GAP) // 2, (180 - GAP) // 2
    for k in (0, 5, 9):
        for number, way in enumerate(ways):
            row, column = number // 2 * (height + GAP), number % 2 * (width + GAP)
            panel = frames[k, row : row + height, column : column + width]
            found = np.nonzero(reddish(panel))[1].mean() + 0.5
            assert found == pytest.approx(column_of(way * TIMES[k], width, height), abs=1.5)
    # There is a gap between them.
    assert np.abs(frames[:, :, width + GAP // 2] - GAP_COLOUR).max() < 30
    assert drawn_labels[:4] == [[f"{label}   0.00 s"] for label in labels]
    assert drawn_labels[-1] == ["penalty   0.90 s"]


def test_sizes_of_films(tmp_path):
    paths = {"verlet": TIMES[:2], "impulse": TIMES[:2], "articulated": TIMES[:2]}
    film_comparison(entries_of(paths), tmp_path / "three.mp4", width=322, fps=10)
    frames, _ = read(tmp_path / "three.mp4")
    assert frames.shape[1:] == (182, 322, 3)  # two rows of panels of (322 - 4) / 2 = 159 by 9/16 of that
    film_comparison(entries_of(paths), tmp_path / "ghosts.mp4", "ghosts", width=320, fps=10)
    assert read(tmp_path / "ghosts.mp4")[0].shape[1:] == (180, 320, 3)


def test_free_panel_shows_all_together(tmp_path, drawn_labels):
    paths = {"verlet": [-0.9], "impulse": [0.0], "articulated": [0.9]}
    film_comparison(entries_of(paths), tmp_path / "three.png", width=640)
    image = imageio.imread(tmp_path / "three.png").astype(int)
    width, height = (640 - GAP) // 2, (image.shape[0] - GAP) // 2
    last = image[height + GAP : 2 * height + GAP, width + GAP : 2 * width + GAP]
    for label, (x,) in paths.items():
        pixel = last[int(CAMERA.project((x, 0, 1), width, height)[1]), int(column_of(x, width, height))]
        assert hue(pixel, SOLVERS[label]) > 0.9
    assert drawn_labels[-1] == ["together   0.00 s"]


def test_recording_that_ends_early(tmp_path, drawn_labels):
    paths = {"verlet": 0.9 * TIMES, "impulse": 0.9 * TIMES[:6]}
    film_comparison(entries_of(paths), tmp_path / "two.png", width=640, height=180)
    image = imageio.imread(tmp_path / "two.png").astype(int)
    width = (640 - GAP) // 2
    live, still = image[:, :width], image[:, -width:]
    redness = [panel[..., 0] - panel[..., 1:].mean(axis=-1) for panel in (live, still)]
    places = [np.average(np.nonzero(each > 0.6 * each.max())[1]) + 0.5 for each in redness]
    # The field of view is as wide as in a picture of 16:9.
    assert places == [pytest.approx(column_of(x, width, 180), abs=1.5) for x in (0.9, 0.45)]
    assert redness[1].max() < 0.6 * redness[0].max()  # its colours are faded
    assert drawn_labels == [["verlet   1.00 s"], ["impulse   diverged at 0.50 s"]]


def test_recording_ends_before_infinite_positions(tmp_path, drawn_labels):
    away = 0.1 * np.ones(11)
    away[4:] = [1e20, 1e29, 1e31, 1e40, np.inf, np.nan, np.nan]
    film_comparison(entries_of({"verlet": 0 * TIMES, "impulse": away}), tmp_path / "two.mp4", width=320, fps=10)
    assert len(read(tmp_path / "two.mp4")[0]) == 10
    assert drawn_labels[-1] == ["impulse   diverged at 0.50 s"]


def test_label_of_an_interrupted_run(tmp_path, drawn_labels):
    entries = [("verlet", scene_of(), recording_of(TIMES)), ("impulse", scene_of(), recording_of(TIMES[:3]))]
    entries[1][2].about["interrupted"] = True
    film_comparison(entries, tmp_path / "two.png", width=320)
    assert drawn_labels[-1] == ["impulse   stopped at 0.20 s"]


def test_picture_of_an_instant(tmp_path, drawn_labels):
    for when, shown in ((0.0, "0.00"), (0.35, "0.40"), (0.4, "0.40"), (7.0, "1.00")):
        film_comparison(entries_of({"verlet": TIMES}), tmp_path / "one.png", width=160, when=when)
        assert drawn_labels[-1] == [f"verlet   {shown} s"]


def test_film_of_a_comparison(tmp_path, drawn_labels):
    comparison = comparison_of()
    assert film_comparison(comparison, tmp_path / "ghosts.mp4", "ghosts", width=320, fps=10) == 10
    assert drawn_labels[-1] == ["sliding   0.90 s", "impulse", "verlet", "penalty   diverged at 0.50 s"]
    comparison.traces[2].recording = None  # it failed before its first frame
    film_comparison(comparison, tmp_path / "two.png", width=320)
    assert drawn_labels[-2:] == [["impulse   1.00 s"], ["verlet   1.00 s"]]


# Ghosts -----------------------------------------------------------------------------------------------------------


def ghosts(tmp_path, paths, width=320, scene=None):
    """A picture of ghosts in the last frame."""
    film_comparison(entries_of(paths, scene), tmp_path / "ghosts.png", "ghosts", width=width)
    return imageio.imread(tmp_path / "ghosts.png").astype(int)


def around(image, x, part=0.5):
    """The middle of the front of the box at x in a picture."""
    height, width, _ = image.shape
    corners = [CAMERA.project((x + way * part * EDGE / 2, -EDGE / 2, 1 + way * part * EDGE / 2), width, height)
               for way in (-1, 1)]  # fmt: skip
    (left, low), (right, high) = np.rint(corners).astype(int)
    return image[high:low, left:right]


def test_colours_of_ghosts(tmp_path, drawn_labels):
    image = ghosts(tmp_path, {"verlet": [-0.7], "impulse": [0.0], "penalty": [0.7]})
    for label, x in (("verlet", -0.7), ("impulse", 0.0), ("penalty", 0.7)):
        found = around(image, x)
        assert hue(found, SOLVERS[label]).min() > 0.9, label
    assert drawn_labels == [["sliding   0.00 s", "verlet", "impulse", "penalty"]]


def test_ghosts_that_agree_share_stripes(tmp_path, drawn_labels):
    image = ghosts(tmp_path, {"verlet": [0.2], "impulse": [0.2]}, width=640)
    found = around(image, 0.2, part=0.9)
    shares = [(hue(found, SOLVERS[label]) > 0.9).mean() for label in ("verlet", "impulse")]
    assert min(shares) > 0.3  # half of the box for each, without the soft edges of stripes
    assert sum(shares) > 0.75


def test_colours_of_other_labels(tmp_path, drawn_labels):
    image = ghosts(tmp_path, {"coarse": [-0.5], "fine": [0.5]})
    assert hue(around(image, -0.5), MORE[0]).min() > 0.9
    assert hue(around(image, 0.5), MORE[1]).min() > 0.9


def test_static_surfaces_and_shadows_are_drawn_once(tmp_path, drawn_labels):
    # Around two ghosts at one place, the picture equals that of a single ghost: no shadow counts twice.
    scene = scene_of()
    (alone, together) = (ghosts(tmp_path, paths, scene=scene) for paths in
                         ({"verlet": [0.4]}, {"verlet": [0.4], "impulse": [0.4]}))  # fmt: skip
    camera, height, width = CAMERA, *alone.shape[:2]
    renderer = Renderer(width, height)
    frame = recording_of(np.array([0.4])).body_poses[0]
    plain = renderer.draw(scene.visuals[0].draw_bodies(frame) + scene.visuals[1].surfaces, camera).astype(int)
    covered = np.zeros((height, width), bool)
    (left, top), (right, bottom) = (camera.project((0.4 + way * 0.4, -0.3, 1 - way * 0.4), width, height).astype(int)
                                    for way in (-1, 1))  # fmt: skip
    covered[top - 2 : bottom + 2, left - 2 : right + 2] = True
    assert covered.mean() < 0.2
    for image in (alone, together):
        assert np.abs(image - plain)[~covered].max() <= 1
    floor = plain[-1, :, 0]
    assert np.abs(np.diff(floor)).max() > 5  # the squares of the floor are visible


def test_near_ghost_hides_far_ghost(tmp_path, drawn_labels):
    scene = scene_of()
    entries = [("verlet", scene, recording_of(np.array([0.0]), y=1.0)),
               ("impulse", scene, recording_of(np.array([0.0]), y=-1.0))]  # fmt: skip
    film_comparison(entries, tmp_path / "behind.png", "ghosts", width=320)
    image = imageio.imread(tmp_path / "behind.png").astype(int)
    assert hue(around(image, 0.0, 0.3), SOLVERS["impulse"]).min() > 0.9


def test_opacity_of_layers():
    # A white layer of opacity a over black gives a. Two layers at one place give 1 - (1 - a)².
    black, white = (np.full((4, 40, 3), value, np.uint8) for value in (0, 255))
    coverage = np.zeros((4, 40), np.float32)
    coverage[:, 10:] = 1
    depth = np.where(coverage > 0, 5, 0).astype(np.float32)
    half = coverage.copy()
    half[:, 25:] = 0
    layers = [Layer(white, coverage, depth), Layer(white, half, depth * half)]
    found = blend_layers(black, layers, 0.6, 0.1)
    assert set(found[:, :10].ravel()) == {0}
    assert set(found[:, 10:25].ravel()) == {round(255 * (1 - 0.4**2))}
    assert set(found[:, 25:].ravel()) == {round(255 * 0.6)}
    assert OPACITY > 0.5


def test_coverage_of_a_partly_hidden_layer():
    renderer = Renderer(200, 150)
    camera = CAMERA
    ball = sphere(0.5, centre=(0, 0, 1))
    whole = renderer.draw_layer([], [ball], camera)
    radius = camera.focal_length(150) * 0.5 / np.sqrt(8**2 - 0.5**2)  # of its outline, a circle in a pinhole view
    assert whole.coverage.sum() == pytest.approx(np.pi * radius**2, rel=0.01)
    assert whole.depth[75, 100] == pytest.approx(7.5, abs=0.01)
    wall = box((4, 0.1, 4))
    wall.vertices = wall.vertices + np.array([2.0, -2, 1])  # in front of the right half
    half = renderer.draw_layer([wall], [ball], camera)
    assert half.coverage.sum() == pytest.approx(np.pi * radius**2 / 2, rel=0.02)
    assert not half.coverage[:, 101:].any()
    sunk = renderer.draw_layer([], [sphere(0.5, centre=(0, 0, -0.6))], camera)
    assert not sunk.coverage.any()


def test_invisible_drawables_cast_shadows():
    camera, ball = CAMERA, sphere(0.5, centre=(0.3, 0, 1.2))
    renderer = Renderer(200, 150)
    bare, seen, invisible = (renderer.draw(*each).astype(int) for each in
                          (([], camera), ([ball], camera), ([], camera, [ball])))  # fmt: skip
    renderer.draw([ball], camera)
    covered = renderer.zbuffer.arrays.covered.to_numpy().reshape(150, 200) == 1
    assert np.array_equal(invisible[~covered], seen[~covered])
    assert (bare - invisible).max() > 30  # the shadow
    assert np.abs(invisible - bare)[covered].max() < np.abs(seen - bare)[covered].max()


# What goes wrong ----------------------------------------------------------------------------------------------------


def test_interrupted_film_is_playable(tmp_path):
    def progress(number, count):
        if number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        film_comparison(entries_of({"verlet": TIMES, "impulse": TIMES}), tmp_path / "two.mp4", width=320, fps=10,
                        progress=progress)  # fmt: skip
    assert caught.value.frames == 3
    assert len(read(tmp_path / "two.mp4")[0]) == 3


def test_invalid_recordings(tmp_path):
    path = tmp_path / "two.mp4"
    one, other = entries_of({"verlet": TIMES, "impulse": TIMES})
    with pytest.raises(ValueError, match="verlet, verlet: expected different labels"):
        film_comparison([one, one], path)
    with pytest.raises(ValueError, match=r"layout is 'ghost'.*did you mean 'ghosts'"):
        film_comparison([one, other], path, layout="ghost")
    with pytest.raises(ValueError, match="no recordings: expected at least one"):
        film_comparison([], path)
    other[2].times[:] *= 2
    with pytest.raises(ValueError, match=r"frame 1 of 'impulse' is at 0.2 s, of 'verlet' at 0.1 s"):
        film_comparison([one, other], path)
    with pytest.raises(TypeError, match="expected a Scene"):
        film_comparison([("verlet", "sliding", one[2])], path)
    nothing = recording_of(np.array([np.nan]))
    with pytest.raises(ValueError, match="recording 'verlet' is not finite"):
        film_comparison([("verlet", scene_of(), nothing)], path)
    with pytest.raises(ValueError, match=r"0 bodies: expected .* 1 bodies"):
        film_comparison([("verlet", scene_of(), scenes.Recording({}, TIMES[:1], *(np.zeros((1, 0, n)) for n in
                         (3, 3, 7, 7, 6)), np.zeros((1, 3))))], path)  # fmt: skip
    with pytest.raises(ValueError, match="suffix"):
        film_comparison([one], tmp_path / "two.avi")
    assert not list(tmp_path.iterdir())
