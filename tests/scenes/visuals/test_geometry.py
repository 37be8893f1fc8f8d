"""Cameras and surfaces: projections, volumes and errors. Nothing is drawn."""

import math

import numpy as np
import pytest
import trimesh

from scenes.visuals import Camera, Instances, Surface, box, capsule, cylinder, sphere, spheres, tubes

SQUARE = dict(vertices=[[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], triangles=[[0, 1, 2], [0, 2, 3]])


def test_projection_of_points():
    # Column = width/2 + f x/y and row = height/2 - f z/y, for a camera at the origin that looks along y; with an
    # opening of 90 degrees the focal length f is half the height.
    camera = Camera((0, 0, 0), (0, 1, 0), field_of_view=90)
    places = camera.project([[1.0, 2.0, 0.5], [-3.0, 4.0, -1.0]], width=200, height=100)
    np.testing.assert_allclose(places, [[100 + 50 / 2, 50 - 50 / 4], [100 - 50 * 3 / 4, 50 + 50 / 4]], atol=1e-12)


def test_framing_shows_the_whole_box():
    rng = np.random.default_rng(3)
    for _ in range(20):
        lower, upper = np.sort(rng.uniform(-3, 3, (2, 3)), axis=0)
        camera = Camera.framing(lower, upper, direction=rng.normal(size=3), aspect=1.5, margin=1.0)
        corners = np.stack(np.meshgrid(*zip(lower, upper)), axis=-1).reshape(8, 3)
        assert np.min((corners - camera.position) @ camera.forward) > 0
        inside = camera.project(corners, 150, 100) / (150, 100)
        assert inside.min() > -1e-9
        assert inside.max() < 1 + 1e-9
        assert min(inside.min(), 1 - inside.max()) < 1e-6  # the box touches a border


def test_framing_from_above():
    camera = Camera.framing((-1, -1, 0), (1, 1, 1), direction=(0, 0, 1))
    assert camera.position[2] > 1
    assert np.isfinite(camera.view(64, 64)).all()


@pytest.mark.parametrize(("arguments", "words"), [
    (dict(position=(0, 0, 0), target=(0, 0, 0)), "expected two points"),
    (dict(position=(0, 0, 0), target=(0, 0, 1)), "up"),
    (dict(position=(0, 0, math.nan), target=(0, 1, 0)), "position"),
    (dict(position=(0, 0), target=(0, 1, 0)), "position"),
    (dict(position=(0, 0, 0), target=(0, 1, 0), field_of_view=180), "field_of_view"),
])
def test_invalid_camera(arguments, words):
    with pytest.raises(ValueError, match=words):
        Camera(**arguments)


# The divergence theorem gives the volume, which is positive only if all triangles face outwards. With facets of an
# angle a, an inscribed circle loses about a²/6 of its area, and a sphere a²/4 of its volume.
@pytest.mark.parametrize(("surface", "volume", "lost"), [
    (sphere(0.5), 4 / 3 * math.pi * 0.5**3, 0.005),
    (box((1.0, 2.0, 3.0)), 6.0, 1e-12),
    (cylinder(0.5, 2.0, sectors=48), math.pi * 0.25 * 2, (2 * math.pi / 48) ** 2 / 6 * 1.05),
    (capsule(0.5, 2.0, sectors=24), math.pi * 0.25 * 2 + 4 / 3 * math.pi * 0.125, 0.02),
    (tubes([[0, 0, 0], [5, 1, 2]], [[0, 3, 4], [5, 1, 1]], [0.5, 0.2], sectors=32, rings=8),
     math.pi * (0.25 * 5 + 0.04) + 4 / 3 * math.pi * (0.125 + 0.008), 0.02),
])
def test_volumes_and_orientation_of_solids(surface, volume, lost):
    a, b, c = np.asarray(surface.vertices, dtype=float)[surface.triangles].transpose(1, 0, 2)
    enclosed = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert volume * (1 - lost) - 1e-9 < enclosed < volume + 1e-9
    assert trimesh.Trimesh(surface.vertices, surface.triangles).is_watertight
    assert surface.solid


def test_extent_of_tubes():
    surface = tubes([[1, 2, 3]], [[1, 2, 7]], 0.25, sectors=16, rings=4)
    np.testing.assert_allclose(surface.vertices.min(axis=0), (0.75, 1.75, 2.75), atol=1e-12)
    np.testing.assert_allclose(surface.vertices.max(axis=0), (1.25, 2.25, 7.25), atol=1e-12)
    ball = tubes([[1, 2, 3]], [[1, 2, 3]], 0.25)  # a tube of length zero is a sphere
    np.testing.assert_allclose(np.linalg.norm(ball.vertices - (1, 2, 3), axis=1), 0.25, atol=1e-12)


def test_empty_surfaces():
    assert tubes(np.zeros((0, 3)), np.zeros((0, 3)), 0.1).triangles.shape == (0, 3)
    assert len(spheres(np.zeros((0, 3)), 0.1).positions) == 0


@pytest.mark.parametrize(("change", "words"), [
    (dict(vertices=np.full((4, 3), np.nan)), "finite"),
    (dict(vertices=np.full((4, 3), 1e40)), "finite"),
    (dict(vertices=np.zeros((4, 2))), "vertices have shape"),
    (dict(triangles=[[0, 1, 4]]), "0 to 3"),
    (dict(triangles=[[0, -1, 2]]), "0 to 3"),
    (dict(triangles=[[0.0, 1.0, 2.0]]), "integers"),
    (dict(colour=(255, 0, 0)), "expected numbers from 0 to 1"),
    (dict(colour=(0.5, 0.5)), "colour has shape"),
    (dict(back_colour=(0, 0, math.nan)), "expected numbers from 0 to 1"),
])
def test_invalid_surface(change, words):
    with pytest.raises(ValueError, match=words):
        Surface(**{**SQUARE, **change})


@pytest.mark.parametrize(("change", "words"), [
    (dict(positions=[[0, 0, math.inf]]), "positions are not finite"),
    (dict(rotations=[[1, 0, 0, 0]] * 2), "rotations have shape"),
    (dict(rotations=[[0, 0, 0, 0]]), "quaternion zero"),
    (dict(scales=[[1, 1, 0]]), "scales"),
    (dict(colours=[[1, 1, 2]]), "expected numbers from 0 to 1"),
])
def test_invalid_instances(change, words):
    with pytest.raises(ValueError, match=words):
        Instances(Surface(**SQUARE), **{"positions": [[0, 0, 0]], **change})


@pytest.mark.parametrize("make", [lambda: sphere(0.0), lambda: capsule(-1.0, 1.0), lambda: cylinder(math.nan, 1.0),
                                  lambda: tubes([[0, 0, 0]], [[1, 0, 0]], 0.0)])
def test_invalid_radius(make):
    with pytest.raises(ValueError, match="radius"):
        make()
