"""Several recordings in one film: whose picture stands where, in which colour, and what is said of those that ended."""

import imageio.v2 as imageio
import numpy as np
import pytest
from takes import CAMERA, EDGE, STEP, comparison_of, recording_of, scene_of

import scenes
from scenes.render import Renderer, several
from scenes.render.ghosts import OPACITY
from scenes.render.layer import Layer, blend_layers
from scenes.render.several import GAP, PAPER, film_comparison
from scenes.visuals import box, sphere
from scenes.visuals.colours import MORE, SOLVERS, rgb

TIMES = STEP * np.arange(11)


def entries_of(paths, scene=None):
    """A list for `film_comparison`, of boxes that go along x: {label: (frames,)}."""
    scene = scene or scene_of()
    return [(label, scene, recording_of(np.asarray(x, float), label)) for label, x in paths.items()]


def read(path):
    """Frames (count, height, width, 3), and frames a second."""
    with imageio.get_reader(path) as reader:
        return np.array([frame[..., :3] for frame in reader]).astype(int), reader.get_meta_data().get("fps")


def reddish(image):
    """Where the red box of `scene_of` is."""
    return (image[..., 0] > image[..., 1] + 60) & (image[..., 0] > image[..., 2] + 60)


def column_of(x, width, height, camera=CAMERA):
    """Where in a picture a point of the box's path appears."""
    return camera.project((x, 0, 1), width, height)[0]


def hue(image, colour):
    """How near pixels are in hue to "#rrggbb": cosines of what is left of both without grey."""
    pixels, given = (np.asarray(each, float) for each in (image, rgb(colour)))
    pixels, given = pixels - pixels.mean(axis=-1, keepdims=True), given - given.mean()
    return pixels @ given / np.maximum(np.linalg.norm(pixels, axis=-1) * np.linalg.norm(given), 1e-9)


@pytest.fixture
def said(monkeypatch):
    """All lines of labels that are drawn, in place of their letters."""
    lines = []

    def draw_labels(image, text, **more):
        lines.append([text] if isinstance(text, str) else list(text))
        return image

    monkeypatch.setattr(several, "draw_labels", draw_labels)
    return lines


def test_panels_fill_a_grid():
    found = {count: several.grid(count) for count in (1, 2, 3, 4, 5, 7)}
    assert found == {1: (1, 1), 2: (2, 1), 3: (2, 2), 4: (2, 2), 5: (3, 2), 7: (3, 3)}


def test_each_panel_shows_its_own_recording(tmp_path, said):
    labels = ["verlet", "impulse", "articulated", "penalty"]
    ways = (-0.8, -0.3, 0.4, 0.9)
    paths = {label: way * TIMES for label, way in zip(labels, ways)}
    told = []
    count = film_comparison(entries_of(paths), tmp_path / "four.mp4", width=320, height=180, fps=10,
                            progress=lambda *now: told.append(now))  # fmt: skip
    frames, fps = read(tmp_path / "four.mp4")
    assert count == len(frames) == len(TIMES)
    assert told == [(k, 11) for k in range(1, 12)]
    assert fps == pytest.approx(10)
    assert frames.shape[1:] == (180, 320, 3)
    width, height = (320 - GAP) // 2, (180 - GAP) // 2
    for k in (0, 5, 10):
        for number, way in enumerate(ways):
            row, column = number // 2 * (height + GAP), number % 2 * (width + GAP)
            panel = frames[k, row : row + height, column : column + width]
            found = np.nonzero(reddish(panel))[1].mean() + 0.5
            assert found == pytest.approx(column_of(way * TIMES[k], width, height), abs=1.5)
    # Between them lies paper.
    assert np.abs(frames[:, :, width + GAP // 2] - PAPER).max() < 30
    assert said[:4] == [[f"{label}   0.00 s"] for label in labels]
    assert said[-1] == ["penalty   1.00 s"]


def test_sizes_are_even_and_panels_as_wide_as_films_are(tmp_path):
    paths = {"verlet": TIMES[:2], "impulse": TIMES[:2], "articulated": TIMES[:2]}
    film_comparison(entries_of(paths), tmp_path / "three.mp4", width=322, fps=10)
    frames, _ = read(tmp_path / "three.mp4")
    assert frames.shape[1:] == (182, 322, 3)  # two rows of panels of (322 - 4) / 2 = 159 by 9/16 of that
    film_comparison(entries_of(paths), tmp_path / "ghosts.mp4", "ghosts", width=320, fps=10)
    assert read(tmp_path / "ghosts.mp4")[0].shape[1:] == (180, 320, 3)


def test_a_place_that_is_left_shows_all_together(tmp_path, said):
    paths = {"verlet": [-0.9], "impulse": [0.0], "articulated": [0.9]}
    film_comparison(entries_of(paths), tmp_path / "three.png", width=640)
    image = imageio.imread(tmp_path / "three.png").astype(int)
    width, height = (640 - GAP) // 2, (image.shape[0] - GAP) // 2
    last = image[height + GAP : 2 * height + GAP, width + GAP : 2 * width + GAP]
    for label, (x,) in paths.items():
        pixel = last[int(CAMERA.project((x, 0, 1), width, height)[1]), int(column_of(x, width, height))]
        assert hue(pixel, SOLVERS[label]) > 0.9
    assert said[-1] == ["together   0.00 s"]


def test_what_ends_early_stands_still_and_says_when(tmp_path, said):
    paths = {"verlet": 0.9 * TIMES, "impulse": 0.9 * TIMES[:6]}
    film_comparison(entries_of(paths), tmp_path / "two.png", width=640, height=180)
    image = imageio.imread(tmp_path / "two.png").astype(int)
    width = (640 - GAP) // 2
    live, still = image[:, :width], image[:, -width:]
    redness = [panel[..., 0] - panel[..., 1:].mean(axis=-1) for panel in (live, still)]
    places = [np.average(np.nonzero(each > 0.6 * each.max())[1]) + 0.5 for each in redness]
    # Fields of view are as wide as in 16:9, and here panels are.
    assert places == [pytest.approx(column_of(x, width, 180), abs=1.5) for x in (0.9, 0.45)]
    assert redness[1].max() < 0.6 * redness[0].max()  # and looks it
    assert said == [["verlet   1.00 s"], ["impulse   diverged at 0.50 s"]]


def test_what_flew_out_of_all_numbers_ends_before(tmp_path, said):
    away = 0.1 * np.ones(11)
    away[4:] = [1e20, 1e29, 1e31, 1e40, np.inf, np.nan, np.nan]
    film_comparison(entries_of({"verlet": 0 * TIMES, "impulse": away}), tmp_path / "two.mp4", width=320, fps=10)
    assert len(read(tmp_path / "two.mp4")[0]) == 11
    assert said[-1] == ["impulse   diverged at 0.50 s"]


def test_a_run_that_was_stopped_says_so(tmp_path, said):
    entries = [("verlet", scene_of(), recording_of(TIMES)), ("impulse", scene_of(), recording_of(TIMES[:3]))]
    entries[1][2].about["interrupted"] = True
    film_comparison(entries, tmp_path / "two.png", width=320)
    assert said[-1] == ["impulse   stopped at 0.20 s"]


def test_a_picture_is_of_the_instant_that_is_asked_for(tmp_path, said):
    for when, shown in ((0.0, "0.00"), (0.35, "0.40"), (0.4, "0.40"), (7.0, "1.00")):
        film_comparison(entries_of({"verlet": TIMES}), tmp_path / "one.png", width=160, when=when)
        assert said[-1] == [f"verlet   {shown} s"]


def test_a_comparison_is_filmed_in_its_own_colours(tmp_path, said):
    comparison = comparison_of()
    assert film_comparison(comparison, tmp_path / "ghosts.mp4", "ghosts", width=320, fps=10) == 11
    assert said[-1] == ["sliding   1.00 s", "impulse", "verlet", "penalty   diverged at 0.50 s"]
    comparison.traces[2].recording = None  # it failed before its first frame
    film_comparison(comparison, tmp_path / "two.png", width=320)
    assert said[-2:] == [["impulse   1.00 s"], ["verlet   1.00 s"]]


# Ghosts -----------------------------------------------------------------------------------------------------------


def ghosts(tmp_path, paths, width=320, scene=None):
    """The picture of ghosts at the end."""
    film_comparison(entries_of(paths, scene), tmp_path / "ghosts.png", "ghosts", width=width)
    return imageio.imread(tmp_path / "ghosts.png").astype(int)


def around(image, x, part=0.5):
    """The middle of the box's front at x, as it is seen in a picture."""
    height, width, _ = image.shape
    corners = [CAMERA.project((x + way * part * EDGE / 2, -EDGE / 2, 1 + way * part * EDGE / 2), width, height)
               for way in (-1, 1)]  # fmt: skip
    (left, low), (right, high) = np.rint(corners).astype(int)
    return image[high:low, left:right]


def test_ghosts_have_the_colours_of_their_solvers(tmp_path, said):
    image = ghosts(tmp_path, {"verlet": [-0.7], "impulse": [0.0], "penalty": [0.7]})
    for label, x in (("verlet", -0.7), ("impulse", 0.0), ("penalty", 0.7)):
        found = around(image, x)
        assert hue(found, SOLVERS[label]).min() > 0.9, label
    assert said == [["sliding   0.00 s", "verlet", "impulse", "penalty"]]


def test_ghosts_that_agree_are_striped_in_all_their_colours(tmp_path, said):
    image = ghosts(tmp_path, {"verlet": [0.2], "impulse": [0.2]}, width=640)
    found = around(image, 0.2, part=0.9)
    shares = [(hue(found, SOLVERS[label]) > 0.9).mean() for label in ("verlet", "impulse")]
    assert min(shares) > 0.3  # half of the box each, less the soft edges of stripes
    assert sum(shares) > 0.75


def test_a_label_that_is_no_solvers_has_a_colour_too(tmp_path, said):
    image = ghosts(tmp_path, {"coarse": [-0.5], "fine": [0.5]})
    assert hue(around(image, -0.5), MORE[0]).min() > 0.9
    assert hue(around(image, 0.5), MORE[1]).min() > 0.9


def test_scenery_floor_and_shadows_stand_once(tmp_path, said):
    # Two ghosts in one place look, around them, as one does alone: no shadow is counted twice.
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
    assert np.abs(np.diff(floor)).max() > 5  # there is something to see: squares


def test_what_is_near_hides_what_is_far(tmp_path, said):
    scene = scene_of()
    entries = [("verlet", scene, recording_of(np.array([0.0]), y=1.0)),
               ("impulse", scene, recording_of(np.array([0.0]), y=-1.0))]  # fmt: skip
    film_comparison(entries, tmp_path / "behind.png", "ghosts", width=320)
    image = imageio.imread(tmp_path / "behind.png").astype(int)
    assert hue(around(image, 0.0, 0.3), SOLVERS["impulse"]).min() > 0.9


def test_layers_are_as_opaque_as_told():
    # Over black, a white layer alone is seen by its opacity; two at one place leave (1 - a)² of what is behind.
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


def test_a_layer_covers_what_scenery_and_floor_leave_of_it():
    renderer = Renderer(200, 150)
    camera = CAMERA
    ball = sphere(0.5, centre=(0, 0, 1))
    whole = renderer.draw_layer([], [ball], camera)
    radius = camera.focal_length(150) * 0.5 / np.sqrt(8**2 - 0.5**2)  # of its outline, a circle as in a pinhole
    assert whole.coverage.sum() == pytest.approx(np.pi * radius**2, rel=0.01)
    assert whole.depth[75, 100] == pytest.approx(7.5, abs=0.01)
    wall = box((4, 0.1, 4))
    wall.vertices = wall.vertices + np.array([2.0, -2, 1])  # before the right half
    half = renderer.draw_layer([wall], [ball], camera)
    assert half.coverage.sum() == pytest.approx(np.pi * radius**2 / 2, rel=0.02)
    assert not half.coverage[:, 101:].any()
    sunk = renderer.draw_layer([], [sphere(0.5, centre=(0, 0, -0.6))], camera)
    assert not sunk.coverage.any()


def test_what_is_unseen_casts_its_shadow():
    camera, ball = CAMERA, sphere(0.5, centre=(0.3, 0, 1.2))
    renderer = Renderer(200, 150)
    bare, seen, unseen = (renderer.draw(*each).astype(int) for each in
                          (([], camera), ([ball], camera), ([], camera, [ball])))  # fmt: skip
    renderer.draw([ball], camera)
    covered = renderer.zbuffer.covered.to_numpy().reshape(150, 200) == 1
    assert np.array_equal(unseen[~covered], seen[~covered])
    assert (bare - unseen).max() > 30  # the shadow
    assert np.abs(unseen - bare)[covered].max() < np.abs(seen - bare)[covered].max()


# What goes wrong ----------------------------------------------------------------------------------------------------


def test_an_interrupted_film_can_be_played(tmp_path):
    def progress(number, count):
        if number == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        film_comparison(entries_of({"verlet": TIMES, "impulse": TIMES}), tmp_path / "two.mp4", width=320, fps=10,
                        progress=progress)  # fmt: skip
    assert caught.value.frames == 3
    assert len(read(tmp_path / "two.mp4")[0]) == 3


def test_what_cannot_be_filmed_is_refused(tmp_path):
    path = tmp_path / "two.mp4"
    one, other = entries_of({"verlet": TIMES, "impulse": TIMES})
    with pytest.raises(ValueError, match="verlet, verlet: expected each another"):
        film_comparison([one, one], path)
    with pytest.raises(ValueError, match=r"layout is 'ghost'.*did you mean 'ghosts'"):
        film_comparison([one, other], path, layout="ghost")
    with pytest.raises(ValueError, match="one recording at least"):
        film_comparison([], path)
    other[2].times[:] *= 2
    with pytest.raises(ValueError, match=r"frame 1 of 'impulse' is at 0.2 s, of 'verlet' at 0.1 s"):
        film_comparison([one, other], path)
    with pytest.raises(TypeError, match="expected a Scene"):
        film_comparison([("verlet", "sliding", one[2])], path)
    nothing = recording_of(np.array([np.nan]))
    with pytest.raises(ValueError, match="'verlet' begins with what cannot be drawn"):
        film_comparison([("verlet", scene_of(), nothing)], path)
    with pytest.raises(ValueError, match=r"0 bodies: expected .* 1 bodies"):
        film_comparison([("verlet", scene_of(), scenes.Recording({}, TIMES[:1], *(np.zeros((1, 0, n)) for n in
                         (3, 3, 7, 7, 6)), np.zeros((1, 3))))], path)  # fmt: skip
    with pytest.raises(ValueError, match="suffix"):
        film_comparison([one], tmp_path / "two.avi")
    assert not list(tmp_path.iterdir())
