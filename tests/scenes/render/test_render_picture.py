"""Pictures compared with geometry and with the physics of light."""

import hashlib
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from elsewhere import run_elsewhere

from scenes.render import Renderer
from scenes.visuals import Camera, Instances, Surface, box, sphere, spheres, tubes

SIDEWAYS = Camera((0, -10, 0), (0, 0, 0), field_of_view=30)  # x to the right, z upwards
FROM_ABOVE = Camera((0, 0, 10), (0, 0, 0), field_of_view=30, up=(0, 1, 0))


def quad(x, z, y=0.0, colour=(1, 1, 1), back_colour=None):
    """A rectangle across the line of sight of SIDEWAYS, its front towards it."""
    (x0, x1), (z0, z1) = x, z
    vertices = [[x0, y, z0], [x1, y, z0], [x1, y, z1], [x0, y, z1]]
    return Surface(vertices, [[0, 1, 2], [0, 2, 3]], colour, back_colour)


def level(height, x, y, colour=(1, 1, 1)):
    """A level rectangle, its front upwards."""
    (x0, x1), (y0, y1) = x, y
    vertices = [[x0, y0, height], [x1, y0, height], [x1, y1, height], [x0, y1, height]]
    return Surface(vertices, [[0, 1, 2], [0, 2, 3]], colour)


def coverage(renderer):
    """Part of each pixel that triangles cover (height, width)."""
    return (renderer.zbuffer.arrays.keys.to_numpy() != 0).mean(axis=1).reshape(renderer.height, renderer.width)


def pixel_of(camera, width, height, x, y=0.0, z=0.0):
    """Column and row of a point, as indices. Args: x, y, z [m]."""
    column, row = camera.project((x, y, z), width, height)
    return int(column), int(row)


def light(code):
    """Linear light of sRGB codes."""
    code = np.asarray(code, dtype=float) / 255
    return np.where(code <= 0.04045, code / 12.92, ((code + 0.055) / 1.055) ** 2.4)


@pytest.mark.parametrize("samples", [1, 8, 16])
def test_area_of_a_sphere(samples):
    # Its tangent cone meets the picture plane in a circle of radius f r / sqrt(d² - r²).
    renderer = Renderer(200, 150, samples=samples, ground=False)
    renderer.draw([sphere(1.5)], SIDEWAYS)
    radius = SIDEWAYS.focal_length(150) * 1.5 / math.sqrt(10**2 - 1.5**2)
    assert coverage(renderer).sum() == pytest.approx(math.pi * radius**2, rel=0.01)


def test_edges_are_antialiased_by_area():
    renderer = Renderer(160, 120, ground=False)
    slanted = Surface([[-1.1, 0, -1.3], [1.7, 0, -0.2], [0.3, 0, 1.5]], [[0, 1, 2]])
    renderer.draw([slanted], SIDEWAYS)
    a, b, c = SIDEWAYS.project(slanted.vertices, 160, 120)
    area = abs(np.linalg.det([b - a, c - a])) / 2
    covered = coverage(renderer)
    assert covered.sum() == pytest.approx(area, rel=0.002)
    assert len(np.unique(covered)) == 9  # zero to eight of eight samples


def test_adjacent_triangles_leave_no_gap():
    rng = np.random.default_rng(0)
    x, z = np.meshgrid(np.linspace(-6, 6, 40), np.linspace(-6, 6, 40), indexing="ij")
    inner = np.pad(np.ones((38, 38)), 1)
    vertices = np.stack([x + 0.1 * inner * rng.uniform(-1, 1, x.shape), 0.1 * rng.normal(size=x.shape),
                         z + 0.1 * inner * rng.uniform(-1, 1, x.shape)], axis=-1).reshape(-1, 3)
    index = np.arange(1600).reshape(40, 40)
    a, b, c, d = (index[i:39 + i, j:39 + j].ravel() for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)))
    surface = Surface(vertices, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]))
    renderer = Renderer(321, 237, ground=False)
    renderer.draw([surface], SIDEWAYS)
    assert coverage(renderer).min() == 1


def test_the_nearest_triangle_is_visible_in_any_order():
    # Several threads draw thousands of triangles at each pixel.
    rng = np.random.default_rng(1)
    depths = rng.permutation(np.linspace(-3, 5, 1500))
    quads = [quad((-4, 4), (-4, 4), y, (0, 1, 0) if y == depths.min() else (1, 0, 0)) for y in depths]
    picture = Renderer(32, 24, ground=False).draw(quads, SIDEWAYS)
    assert np.all(picture[..., 1] > 100)
    assert np.all(picture[..., 0] < 100)


def test_positions_in_the_picture():
    renderer = Renderer(160, 120, ground=False)
    camera = Camera((3, -7, 4), (0.5, 0.2, 0.3), field_of_view=40)
    for place in ((0, 0, 0), (1.5, 1, -0.5), (-1, 0.3, 1.2)):
        renderer.draw([sphere(0.05, centre=place)], camera)
        covered = coverage(renderer)
        rows, columns = np.mgrid[:120, :160] + 0.5
        centre = (covered * columns).sum() / covered.sum(), (covered * rows).sum() / covered.sum()
        np.testing.assert_allclose(centre, camera.project(place, 160, 120), atol=0.1)


def test_front_and_back_colours():
    renderer = Renderer(32, 24, ground=False)
    surface = quad((-4, 4), (-4, 4), colour=(1, 0, 0), back_colour=(0, 0, 1))
    from_the_front = renderer.draw([surface], SIDEWAYS).mean(axis=(0, 1))
    from_behind = renderer.draw([surface], Camera((0, 10, 0), (0, 0, 0), 30)).mean(axis=(0, 1))
    assert from_the_front[0] > 2 * from_the_front[2]
    assert from_behind[2] > 2 * from_behind[0]


def test_back_is_lit_from_behind():
    surface = quad((-4, 4), (-4, 4))
    behind, camera = (0, 1, 0.2), Camera((0, 10, 0), (0, 0, 0), 30)
    sunny = Renderer(16, 12, ground=False, sun_direction=behind).draw([surface], camera).mean()
    dark = Renderer(16, 12, ground=False, sun_direction=(0, -1, 0.2)).draw([surface], camera).mean()
    assert sunny > 1.3 * dark


def test_instances_equal_a_transformed_surface():
    renderer = Renderer(96, 72)
    camera = Camera((2, -6, 3), (0, 0, 0.7), 35)
    half = math.sqrt(0.5)  # a quarter turn about z: x becomes y, y becomes -x
    shape = tubes([[0, 0, 0]], [[0.8, 0, 0.3]], 0.2, (0.2, 0.4, 0.9))
    posed = Instances(shape, [[0.3, -0.2, 0.6]], rotations=[[half, 0, 0, half]], scales=[[1.0, 2.0, 1.5]])
    x, y, z = (np.asarray(shape.vertices) * (1.0, 2.0, 1.5)).T
    moved = Surface(np.stack([0.3 - y, x - 0.2, z + 0.6], axis=1), shape.triangles, (0.2, 0.4, 0.9))
    difference = np.abs(renderer.draw([posed], camera).astype(int) - renderer.draw([moved], camera))
    assert (difference > 2).mean() < 0.002  # samples at edges may differ
    coloured = Instances(shape, [[0.3, -0.2, 0.6]], colours=[[0.9, 0.2, 0.2]])
    assert np.abs(renderer.draw([coloured], camera).astype(int) - renderer.draw([posed], camera)).max() > 50


@pytest.mark.parametrize("sun", [(-0.5, -0.3, 0.8), (0.7, 0.1, 0.6), (0, 0.5, 1)])
def test_position_of_a_shadow(sun):
    # The shadow of a point at height h is offset by -h / sun_z of the direction to the sun.
    renderer = Renderer(200, 200, sun_direction=sun, ground_tile=1e-4, samples=2)
    place = np.array([0.3, -0.2, 1.2])
    ball = sphere(0.1, centre=place)
    empty = renderer.draw([], FROM_ABOVE).astype(float)
    shaded = (empty - renderer.draw([ball], FROM_ABOVE)).mean(axis=2) * (coverage(renderer) == 0)
    shaded[shaded < 20] = 0  # leaves out the soft contact darkening
    rows, columns = np.mgrid[:200, :200] + 0.5
    centre = (shaded * columns).sum() / shaded.sum(), (shaded * rows).sum() / shaded.sum()
    expected = FROM_ABOVE.project(place - place[2] / sun[2] * np.array(sun), 200, 200)
    np.testing.assert_allclose(centre, expected, atol=0.7)


@pytest.mark.parametrize("height", [0.5, 1.0])
def test_width_of_a_soft_shadow(height):
    # With the sun at 45 degrees and of radius s, the shadow of an edge at height h is blurred by a disc of radius 2 s h
    # along x. A tenth of a disc's area lies beyond 0.687 radii, so 10 % and 90 % of the light are 1.374 radii apart.
    radius = 0.04
    renderer = Renderer(800, 100, sun_direction=(-1, 0, 1), sun_radius=radius, ground_tile=1e-4, samples=1)
    camera = Camera((height, 0, 6), (height, 0, 0), field_of_view=7, up=(0, 1, 0))
    picture = renderer.draw([level(height, (-1, 0), (-2, 2))], camera)
    brightness = light(picture[50]).mean(axis=1)
    x = height + (np.arange(800) + 0.5 - 400) / camera.focal_length(100) * 6
    near_edge = np.abs(x - height) < 4 * radius * height
    brightness, x = brightness[near_edge], x[near_edge]
    share = (brightness - brightness[0]) / (brightness[-1] - brightness[0])
    width = np.interp(0.9, share, x) - np.interp(0.1, share, x)
    assert width == pytest.approx(1.374 * 2 * radius * height, rel=0.15)
    assert np.interp(0.5, share, x) == pytest.approx(height, abs=0.015)  # two texels of the shadow map


@pytest.mark.parametrize("sun", [(-1, 0.3, 1), (-1, 0.2, 0.15)])
def test_surfaces_do_not_shade_themselves(sun):
    # A level plate is lit evenly, without specks.
    renderer = Renderer(240, 180, ground_tile=1e-4, sun_direction=sun)
    camera = Camera((1, -4, 3), (0, 0, 0.5), 35)
    picture = renderer.draw([level(0.5, (-1.2, 1.2), (-1.2, 1.2))], camera)
    covered = coverage(renderer) == 1
    assert np.ptp(picture[covered].astype(int), axis=0).max() <= 14  # highlights and contact darkening vary slowly
    steps = np.abs(np.diff(picture.astype(int), axis=1)).max(axis=2)[covered[:, 1:] & covered[:, :-1]]
    assert steps.max() <= 1


def test_sphere_is_lit_without_specks():
    picture = Renderer(240, 180, ground=False).draw([sphere(2.0)], SIDEWAYS).astype(int)
    rows, columns = np.mgrid[:180, :240] + 0.5
    inside = np.hypot(columns - 120, rows - 90) < 0.9 * SIDEWAYS.focal_length(180) * 2 / math.sqrt(96)
    bend = np.abs(picture[:, 2:] - 2 * picture[:, 1:-1] + picture[:, :-2]).max(axis=2)
    assert bend[inside[:, 1:-1]].max() <= 6


def test_floor_is_darker_at_contacts():
    # On the sunny side of a box there is no shadow, but the box hides a part of the sky.
    renderer = Renderer(200, 200, sun_direction=(-1, 0, 2), ground_tile=1e-4)
    picture = renderer.draw([Instances(box((1, 1, 0.5)), [[0, 0, 0.25]])], FROM_ABOVE).astype(int)
    at = {x: picture[pixel_of(FROM_ABOVE, 200, 200, x)[::-1]].sum() for x in (-0.62, -0.8, -1.3, -2.4)}
    assert at[-0.62] < at[-0.8] < at[-1.3] <= at[-2.4] + 3
    assert at[-2.4] - at[-0.62] > 15


def test_tiny_checkers_are_averaged():
    large = Renderer(64, 64, ground_tile=2.0).draw([], FROM_ABOVE)
    tiles = light(large[16, 16]), light(large[16, 48])
    assert np.abs(tiles[0] - tiles[1]).max() > 0.1
    for tile in (1e-4, 0.0371):  # far below the size of a pixel, and near it
        tiny = Renderer(64, 64, ground_tile=tile).draw([], FROM_ABOVE)
        np.testing.assert_allclose(light(tiny).mean(axis=(0, 1)), (tiles[0] + tiles[1]) / 2, atol=0.006)
        assert np.ptp(tiny.astype(int), axis=(0, 1)).max() <= (2 if tile < 1e-3 else 12)  # no moiré
    assert np.ptp(large.astype(int), axis=(0, 1)).max() > 20


def test_floor_fades_into_the_sky():
    picture = Renderer(64, 96).draw([], Camera((0, -5, 1.5), (0, 0, 1.0), 40)).astype(int)
    steps = np.abs(np.diff(picture.mean(axis=1), axis=0)).max(axis=1)
    horizon = int(Camera((0, -5, 1.5), (0, 0, 1.0), 40).project((0, 1e7, 1.5), 64, 96)[1])
    assert steps[horizon - 3:horizon + 3].max() <= 2


def test_triangles_that_reach_behind_the_camera():
    # A level plane one metre below the eye fills the picture below the horizon for all positions of its corners.
    camera = Camera((0, 0, 0), (0, 1, 0), 60)
    renderer = Renderer(120, 90, ground=False)
    for corner in (1e3, 1e6, 1e12):
        renderer.draw([level(-1.0, (-corner, corner), (-corner, corner))], camera)
        rows = coverage(renderer).mean(axis=1)
        assert np.all(rows[:44] == 0)
        assert np.all(rows[46:] == 1)
    modest, vast = (renderer.draw([level(-1.0, (-far, far), (-1e3, far))], camera)[-1] for far in (1e3, 1e14))
    assert np.abs(modest.astype(int) - vast).max() <= 2  # the light does not depend on its size
    renderer.draw([level(-1.0, (-1, 1), (-9, -2))], camera)
    assert coverage(renderer).max() == 0  # all of it is behind the camera


def test_vertices_far_outside():
    near = quad((-0.5, 0.5), (-0.5, 0.5), colour=(1, 0, 0))
    far = Surface([[1e29, 1e29, 0], [1e29, 1e29, 1e29], [-1e29, 3e29, 1e29], [1e-29, 0, 0]],
                  [[0, 1, 2], [2, 1, 3], [0, 0, 1]])
    picture = Renderer(64, 48).draw([near, far], SIDEWAYS)
    assert picture[24, 32, 0] > 2 * picture[24, 32, 1]


def test_pictures_repeat_and_arrays_are_reused():
    scene = [sphere(0.5, centre=(0, 0, 0.7)), spheres(np.random.default_rng(2).uniform(-1, 1, (50, 3)), 0.1)]
    camera = Camera((2, -4, 2), (0, 0, 0.5))
    renderer = Renderer(160, 120)
    first = renderer.draw(scene, camera)
    arrays = [id(array) for array in renderer.mesh.arrays]
    renderer.draw([], camera)
    for _ in range(3):
        assert np.array_equal(renderer.draw(scene, camera), first)
    assert arrays == [id(array) for array in renderer.mesh.arrays]
    assert np.array_equal(Renderer(160, 120).draw(scene, camera), first)
    renderer.draw([spheres(np.zeros((200, 3)), 0.1)], camera)  # the largest scene so far: arrays grow
    assert np.array_equal(renderer.draw(scene, camera), first)


PICTURE = """
import sys, hashlib, taichi as ti
ti.init(arch=ti.cpu, default_fp=getattr(ti, sys.argv[1]), offline_cache=False)
sys.path.insert(0, sys.argv[2])
from test_render_picture import picture_of_everything
print(hashlib.md5(picture_of_everything().tobytes()).hexdigest())
"""


def picture_of_everything():
    """A picture that uses every branch of the renderer."""
    drawables = [sphere(0.5, centre=(0, 0, 0.7)), quad((-1, 1), (0, 1.5), 0.8, (0.9, 0.3, 0.3), (0.3, 0.3, 0.9)),
              Instances(box((0.3, 0.3, 0.3)), [[-1, -0.3, 0.15]], rotations=[[0.9, 0, 0, 0.4]])]
    return Renderer(160, 120).draw(drawables, Camera((2, -4, 2), (0, 0, 0.5)))


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["f32", pytest.param("f64", marks=pytest.mark.slow)])
def test_picture_does_not_depend_on_the_default_precision(precision):
    done = subprocess.run([sys.executable, "-c", PICTURE, precision, str(Path(__file__).parent)], text=True,
                          capture_output=True, check=True, cwd=Path(__file__).parents[3])
    assert done.stdout.split()[-1] == hashlib.md5(picture_of_everything().tobytes()).hexdigest()
    assert "lose precision" not in done.stdout + done.stderr  # Taichi's warning about float64 literals


def test_errors_name_the_drawable():
    renderer = Renderer(32, 24)
    good, bad = sphere(0.5), sphere(0.5)
    bad.vertices = bad.vertices.copy()
    bad.vertices[7, 1] = np.nan
    with pytest.raises(ValueError, match=r"drawables\[1\].*vertices are not finite.*row 7"):
        renderer.draw([good, bad], SIDEWAYS)
    balls = spheres(np.zeros((3, 3)), 0.1)
    balls.positions[2] = np.inf
    with pytest.raises(ValueError, match=r"drawables\[0\].*positions are not finite.*row 2"):
        renderer.draw([balls], SIDEWAYS)
    bad = sphere(0.5)
    bad.triangles = bad.triangles + 10
    with pytest.raises(ValueError, match=r"drawables\[0\].*triangles refer to vertices"):
        renderer.draw([bad], SIDEWAYS)
    with pytest.raises(TypeError, match=r"drawables\[1\] is a str"):
        renderer.draw([good, "sphere"], SIDEWAYS)
    assert renderer.draw([good], SIDEWAYS).shape == (24, 32, 3)  # the renderer still works


@pytest.mark.parametrize(("arguments", "words"), [
    (dict(width=0), "width"), (dict(height=-3), "height"), (dict(width=10.5), "width"), (dict(samples=0), "samples"),
    (dict(samples=17), "samples"), (dict(sun_direction=(1, 0, 0)), "sun_direction"),
    (dict(sun_direction=(0, 0, math.nan)), "sun_direction"), (dict(ground_height=math.inf), "ground_height"),
    (dict(ground_tile=0), "ground_tile"), (dict(sun_radius=-1), "sun_radius"),
])
def test_invalid_renderer(arguments, words):
    with pytest.raises(ValueError, match=words):
        Renderer(**{"width": 16, "height": 16, **arguments})


def test_smallest_pictures():
    assert Renderer(1, 1).draw([sphere(1.0)], SIDEWAYS).shape == (1, 1, 3)
    assert Renderer(3, 2, ground=False).draw([], SIDEWAYS).dtype == np.uint8
    nothing = Surface(np.zeros((0, 3)), np.zeros((0, 3), dtype=int))
    assert Renderer(5, 4).draw([nothing, spheres(np.zeros((0, 3)), 0.1)], SIDEWAYS).shape == (4, 5, 3)


def small_picture():
    """A ball on the ground, as text. Two processes compare it."""
    picture = Renderer(32, 24).draw([sphere(0.5, centre=(0, 0, 0.5))], Camera((3, -4, 2), (0, 0, 0.5)))
    return f"picture: {picture.tolist()}"


@pytest.mark.slow
def test_public_kernels_draw_the_picture_of_quick_ones(monkeypatch):
    pictures = []
    for mode in ("quick", "public"):
        monkeypatch.setenv("VERLETLAB_KERNELS", mode)
        pictures.append(np.array(json.loads(run_elsewhere(__file__, "small_picture()")["picture"])))
    assert np.abs(pictures[0] - pictures[1]).max() <= 1
    assert np.ptp(pictures[0]) > 100
