"""What is drawn of particles without `visuals=`: surfaces, and the sticks and particles that no surface covers."""

import numpy as np
import pytest
import trimesh

import pbd
import scenes
from pbd import build
from scenes.export.pieces import pieces_of
from scenes.render.ghosts import moving_surfaces
from scenes.visuals import ClothVisual, ParticleVisual, PlantVisual, Rods, SkinVisual, StickVisual, default_visuals

POINTS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)], float)
TETRAHEDRA = np.array([(0, 1, 2, 3), (1, 2, 3, 4)])


def drawn(particles, kind):
    """The only visual of a kind, or None."""
    found = [each for each in default_visuals(particles) if isinstance(each, kind)]
    assert len(found) <= 1
    return found[0] if found else None


def pairs_of(particles):
    """Sticks that are drawn, as a set of sorted pairs."""
    visual = drawn(particles, StickVisual)
    return set() if visual is None else {tuple(map(int, sorted(pair))) for pair in visual.pairs}


def sorted_pairs(pairs):
    """Pairs as a set of sorted pairs."""
    return {tuple(map(int, sorted(pair))) for pair in pairs}


def cloth(particles, **options):
    """A cloth of 6 x 5 particles."""
    return build.cloth(particles, (0, 0, 1), (1, 0, 0), (0, 1, 0), (6, 5), **options)


@pytest.mark.parametrize("drag", [1.0, None])
@pytest.mark.parametrize("shear", ["both", "one", "none"])
def test_a_rope_is_drawn_beside_a_cloth_whose_sticks_are_covered(drag, shear):
    particles = pbd.Particles()
    sheet = cloth(particles, drag=drag, shear=shear)
    rope = build.rope(particles, [(2, 0, 1), (3, 0, 1)], 8, mass=0.1, bending_compliance=1e-3)
    assert pairs_of(particles) == sorted_pairs(rope.sticks)  # not those that keep it from bending
    assert np.array_equal(drawn(particles, ClothVisual).triangles, sheet.triangles)
    assert drawn(particles, ParticleVisual) is None


def test_a_rope_with_twist_is_drawn_as_a_rod():
    particles = pbd.Particles()
    rope = build.rope(particles, [(2, 0, 1), (3, 0, 1)], 8, mass=0.1, radius=0.01, bending=1e-3, clamps="start")
    (visual,) = default_visuals(particles)
    assert visual.rod is rope
    assert len(visual.draw(scenes.Run(scenes.Scene(particles)).frame())) == 2


def test_sticks_from_a_cloth_are_drawn():
    """A rope from corner to corner, a strut across, and a line to a post are no edges or diagonals of the cloth."""
    particles = pbd.Particles()
    sheet = cloth(particles)
    first, second, last = (int(sheet.particles[k]) for k in (0, 4, -1))
    post = particles.add_particle((0, 0, 2), mass=np.inf)
    for a, b in ((first, last), (second, post)):
        particles.add_stick(a, b)
    assert pairs_of(particles) == sorted_pairs([(first, last), (second, post)])
    assert drawn(particles, ParticleVisual).particles.tolist() == [post]


def test_sticks_of_cloth_by_hand_are_covered():
    """Structural, shear and bending sticks, the last over two cells (Provot 1995), with triangles for the wind."""
    particles = pbd.Particles()
    number = particles.add_particles([(0.1 * x, 0.1 * y, 1) for y in range(6) for x in range(6)]).reshape(6, 6)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, :-1], number[1:, 1:]
    pieces = (number[:, :-1], number[:, 1:]), (number[:-1], number[1:]), (a, d), (b, c)
    bends = (number[:, :-2], number[:, 2:]), (number[:-2], number[2:])
    for one, two in (*pieces, *bends):
        particles.add_sticks(np.stack([one.ravel(), two.ravel()], axis=1))
    for corners in ((a, b, d), (a, d, c)):
        particles.add_triangles(np.stack([each.ravel() for each in corners], axis=1))
    assert pairs_of(particles) == set()
    assert [type(visual) for visual in default_visuals(particles)] == [ClothVisual]


def test_a_soft_body_is_drawn_by_the_surface_it_was_made_of():
    ball = trimesh.creation.icosphere(subdivisions=3, radius=0.3)
    particles = pbd.Particles()
    body = build.soft_body(particles, ball, 6, position=(0, 0, 1))
    rope = build.rope(particles, [(1, 0, 0), (1, 0, 1)], 4, mass=0.1)
    skin = drawn(particles, SkinVisual)
    assert skin.skin is body.skin
    assert pairs_of(particles) == sorted_pairs(rope.sticks)
    scene = scenes.Scene(particles)
    (surface,) = moving_surfaces(skin, scenes.Run(scene).frame())
    assert np.linalg.norm(surface.vertices - (0, 0, 1), axis=1) == pytest.approx(0.3, abs=1e-9)


@pytest.mark.parametrize("options", [{}, {"volume_compliance": None}, {"drag": 1.0}])
def test_a_soft_body_of_tetrahedra_is_drawn_by_its_boundary(options):
    particles = pbd.Particles()
    build.soft_body_from_tetrahedra(particles, POINTS, TETRAHEDRA, **options)
    (visual,) = default_visuals(particles)
    # Two tetrahedra that share a face have six others.
    assert isinstance(visual, SkinVisual)
    assert len(visual.skin.triangles) == 6


def test_tetrahedra_by_hand_are_drawn_by_their_boundary():
    """Inside out or not, the surface is wound outwards: the volume that it encloses is positive."""
    particles = pbd.Particles()
    particles.add_particles(POINTS)
    edges = {tuple(sorted((a, b))) for one in TETRAHEDRA for a in one for b in one if a != b}
    particles.add_sticks(sorted(edges))
    particles.add_volumes(TETRAHEDRA[:, [0, 1, 3, 2]])
    particles.add_triangles([(0, 1, 2)])  # for the wind; it is on the boundary
    extra = particles.add_particle((3, 0, 0))
    particles.add_stick(extra, 4)
    skin = drawn(particles, SkinVisual).skin
    a, b, c = (skin.vertices(particles.positions())[skin.triangles[:, k]] for k in range(3))
    # The divergence theorem: V = Σ a·(b × c)/6, here 1/6 + 1/3.
    assert np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6 == pytest.approx(0.5)
    assert pairs_of(particles) == {(4, extra)}
    assert drawn(particles, ClothVisual) is None
    assert drawn(particles, ParticleVisual).particles.tolist() == [extra]


def test_a_plant_is_drawn_by_stems_and_leaves():
    particles = pbd.Particles()
    plant = build.plant(particles, levels=1)
    stems, leaves = default_visuals(particles)
    assert isinstance(stems, PlantVisual)
    assert np.array_equal(leaves.triangles, plant.triangles)


def test_files_contain_the_rope_and_the_cloth():
    particles = pbd.Particles()
    sheet = cloth(particles)
    build.rope(particles, [(2, 0, 1), (3, 0, 1)], 8, mass=0.1)
    scene = scenes.Scene(particles)
    surface, rods = pieces_of(scene, scenes.Run(scene).frame()).values()
    assert len(surface.triangles) == len(sheet.triangles)
    assert isinstance(rods, Rods)
    assert rods.ends[:, 0, 0] == pytest.approx(np.linspace(2, 3, 9)[:-1])


def test_what_builders_refuse_is_not_drawn():
    particles = pbd.Particles()
    with pytest.raises(ValueError, match="segments"):
        build.rope(particles, [(0, 0, 0), (1, 0, 0)], 0, mass=0.1)
    assert particles.built == []


def test_what_a_transaction_takes_back_is_not_drawn():
    particles = pbd.Particles()

    def begin():
        with particles.transaction():
            build.rope(particles, [(0, 0, 0), (1, 0, 0)], 4, mass=0.1)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        begin()
    assert particles.built == []
