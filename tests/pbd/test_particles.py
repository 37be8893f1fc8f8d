"""The description: what it refuses and in which words, and what its defaults and less common constraints mean."""

import math
import subprocess
import sys

import numpy as np
import pytest

import pbd
from pbd.batches import dihedral_angle
from pbd.constraints import ANGLE_AT_LEAST, STICK

NAN, INF = math.nan, math.inf


def four(**surroundings):
    """Four particles that span a tetrahedron of volume 1/6."""
    particles = pbd.Particles(**surroundings)
    particles.add_particles([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    return particles


# Refusals -----------------------------------------------------------------------------------------------------------
# Each: what is done to `four()`; the error's type; what its message names: the thing, the value, what was expected.

REFUSED_BY_PARTICLES = {
    "gravity NaN": (lambda p: pbd.Particles(gravity=(0, 0, NAN)), ValueError, ["gravity", "nan", "finite"]),
    "gravity of two": (lambda p: pbd.Particles(gravity=(0, 0)), ValueError, ["gravity", "(2,)", "(3,)"]),
    "wind infinite": (lambda p: pbd.Particles(wind=(INF, 0, 0)), ValueError, ["wind", "inf", "finite"]),
    "air density": (lambda p: pbd.Particles(air_density=-1), ValueError, ["air density", "-1", "zero or more"]),
    "position NaN": (lambda p: p.add_particle((0, NAN, 0)), ValueError, ["position", "nan", "finite"]),
    "position of two": (lambda p: p.add_particle((0, 1)), ValueError, ["position", "(2,)", "(3,)"]),
    "position a word": (lambda p: p.add_particle("here"), TypeError, ["position", "'here'", "numbers"]),
    "positions flat": (lambda p: p.add_particles((0, 1, 2)), ValueError, ["positions", "(3,)", "(any, 3)"]),
    "positions infinite": (lambda p: p.add_particles([(0, 0, INF)]), ValueError, ["positions", "inf", "finite"]),
    "mass zero": (lambda p: p.add_particle((0, 0, 0), mass=0), ValueError, ["mass is 0", "above zero"]),
    "mass negative": (lambda p: p.add_particle((0, 0, 0), mass=-2), ValueError, ["mass is -2", "above zero"]),
    "mass NaN": (lambda p: p.add_particle((0, 0, 0), mass=NAN), ValueError, ["mass is nan", "expected"]),
    "mass minus infinity": (lambda p: p.add_particle((0, 0, 0), mass=-INF), ValueError, ["mass is -inf", "above zero"]),
    "one mass of many": (lambda p: p.add_particles(np.eye(3), [1, -3, 1]), ValueError, ["mass is -3", "above zero"]),
    "masses too few": (lambda p: p.add_particles(np.eye(3), [1, 2]), ValueError, ["mass is [1, 2]", "(3,)"]),
    "velocity NaN": (
        lambda p: p.add_particle((0, 0, 0), velocity=(NAN, 0, 0)), ValueError, ["velocity is nan", "finite"]),
    "velocity of two": (lambda p: p.add_particle((0, 0, 0), velocity=(1, 2)), ValueError, ["velocity", "(1, 3)"]),
    "radius negative": (lambda p: p.add_particle((0, 0, 0), radius=-1), ValueError, ["radius is -1", "zero or more"]),
    "radius infinite": (lambda p: p.add_particle((0, 0, 0), radius=INF), ValueError, ["radius is inf", "finite"]),
    "velocity of the pinned": (
        lambda p: p.add_particle((0, 0, 0), INF, (1, 0, 0)),
        ValueError, ["particle 4", "pinned", "velocity", "drive()"]),
    "pin unknown": (lambda p: p.pin([0, 9]), IndexError, ["particles", "9", "4 particles, 0 to 3"]),
    "pin a fraction": (lambda p: p.pin(1.5), TypeError, ["particles", "1.5", "whole numbers"]),
    "pin a table": (lambda p: p.pin([[0, 1], [2, 3]]), ValueError, ["particles", "(2, 2)", "(any,)"]),
    "path no function": (lambda p: p.drive([0], (0, 0, 0)), TypeError, ["path", "(0, 0, 0)", "function of time"]),
    "path of four": (lambda p: p.drive([0], lambda t: (0, 0, 0, 0)), ValueError, ["path", "(1, 4)", "(1, 3)"]),
    "path for one of two": (lambda p: p.drive([0, 1], lambda t: (0, 0, 0)), ValueError, ["path", "(1, 3)", "(2, 3)"]),
    "path NaN": (lambda p: p.drive([0], lambda t: (0, 0, NAN)), ValueError, ["path", "nan", "finite"]),
    "path for a table": (lambda p: p.drive([[0]], lambda t: (0, 0, 0)), ValueError, ["particles", "(1, 1)", "(any,)"]),
    "path for the unknown": (lambda p: p.drive([4], lambda t: (0, 0, 0)), IndexError, ["particles", "4", "0 to 3"]),
    "two paths": (
        lambda p: [p.drive([2], lambda t: (0, 1, 0)), p.drive([1, 2], lambda t: np.array([(1, 0, 0), (0, 1, 0)]))],
        ValueError, ["particle 2", "two paths", "one"]),
    "path that begins elsewhere": (
        lambda p: p.drive([1], lambda t: (0, 0, 2)),
        ValueError, ["path of particle 1", "[0.0, 0.0, 2.0]", "[1.0, 0.0, 0.0]"]),
    "triangles of two": (lambda p: p.add_triangles([(0, 1)]), ValueError, ["triangles", "(1, 2)", "(any, 3)"]),
    "triangles unknown": (lambda p: p.add_triangles([(0, 1, 7)]), IndexError, ["triangles", "7", "0 to 3"]),
    "drag NaN": (lambda p: p.add_triangles([(0, 1, 2)], drag=NAN), ValueError, ["drag is nan", "finite"]),
    "box upside down": (
        lambda p: p.add_box((0, 0, 1), (1, 1, 0)), ValueError, ["box", "[0.0, 0.0, 1.0]", "[1.0, 1.0, 0.0]", "lower"]),
    "box NaN": (lambda p: p.add_box((0, 0, NAN), (1, 1, 1)), ValueError, ["box lower", "nan", "finite"]),
    "box restitution": (
        lambda p: p.add_box((0, 0, 0), (1, 1, 1), restitution=1.5), ValueError, ["restitution is 1.5", "0 to 1"]),
    "box friction": (
        lambda p: p.add_box((0, 0, 0), (1, 1, 1), friction=-1), ValueError, ["friction is -1", "zero or more"]),
    "collider no shape": (lambda p: p.add_collider("floor"), TypeError, ["collider", "'floor'", "Plane"]),
    "collider a class": (lambda p: p.add_collider(pbd.Plane), TypeError, ["collider", "Plane'>", "expected a Plane"]),
    "collider friction": (
        lambda p: p.add_collider(pbd.Plane(), friction=-0.1), ValueError, ["friction is -0.1", "zero or more"]),
    "collider friction NaN": (lambda p: p.add_collider(pbd.Plane(), friction=NAN), ValueError, ["friction", "nan"]),
    "collider restitution": (
        lambda p: p.add_collider(pbd.Plane(), restitution=-1), ValueError, ["restitution is -1", "0 to 1"]),
    "motion no function": (
        lambda p: p.add_collider(pbd.Plane(), motion=(0, 0, 1)),
        TypeError, ["motion", "(0, 0, 1)", "function of time"]),
    "motion of four": (
        lambda p: p.add_collider(pbd.Plane(), motion=lambda t: (0, 0, 0, 1)), ValueError, ["motion", "(4,)", "(3,)"]),
    "contact friction": (
        lambda p: p.add_particle_contacts(friction=-1), ValueError, ["friction is -1", "zero or more"]),
    "plane of no normal": (
        lambda p: pbd.Plane(normal=(0, 0, 0)), ValueError, ["plane normal", "(0, 0, 0)", "direction"]),
    "sphere of no radius": (lambda p: pbd.Sphere(radius=0), ValueError, ["sphere radius is 0", "above zero"]),
    "capsule of no length": (
        lambda p: pbd.Capsule((1, 1, 1), (1, 1, 1)), ValueError, ["capsule", "itself", "two points"]),
    "box of no width": (lambda p: pbd.Box(size=(1, 0, 1)), ValueError, ["box size is 0", "above zero"]),
    "box turned by nothing": (
        lambda p: pbd.Box(rotation=(0, 0, 0, 0)), ValueError, ["box rotation", "(0, 0, 0, 0)", "(w, x, y, z)"]),
}  # fmt: skip

REFUSED_BY_CONSTRAINTS = {
    "stick to itself": (lambda p: p.add_stick(2, 2), ValueError, ["stick", "particle 2", "itself", "two particles"]),
    "stick to the unknown": (lambda p: p.add_stick(0, 4), IndexError, ["sticks", "4", "4 particles, 0 to 3"]),
    "stick from minus one": (lambda p: p.add_stick(-1, 0), IndexError, ["sticks", "-1", "0 to 3"]),
    "stick of nobody": (lambda p: pbd.Particles().add_stick(0, 1), IndexError, ["sticks", "0", "no particles yet"]),
    "stick of a fraction": (lambda p: p.add_stick(0, 1.0), TypeError, ["sticks", "whole numbers"]),
    "sticks of three": (lambda p: p.add_sticks([(0, 1, 2)]), ValueError, ["sticks", "(1, 3)", "(any, 2)"]),
    "sticks ragged": (lambda p: p.add_sticks([(0, 1), (2,)]), TypeError, ["sticks", "(2,)", "whole numbers"]),
    "length negative": (lambda p: p.add_stick(0, 1, -1), ValueError, ["length is -1", "zero or more"]),
    "length NaN": (lambda p: p.add_stick(0, 1, NAN), ValueError, ["length is nan", "finite"]),
    "lengths too many": (lambda p: p.add_sticks([(0, 1)], [1, 2]), ValueError, ["length is [1, 2]", "(1,)"]),
    "compliance negative": (
        lambda p: p.add_stick(0, 1, compliance=-1e-3), ValueError, ["compliance is -0.001", "zero (rigid) or more"]),
    "compliance infinite": (lambda p: p.add_stick(0, 1, compliance=INF), ValueError, ["compliance is inf", "finite"]),
    "bound": (lambda p: p.add_stick(0, 1, bound="atleast"), ValueError,
              ["bound is 'atleast'", "'equal', 'at_least', 'at_most'", "did you mean 'at_least'?"]),
    "bound, nothing near": (lambda p: p.add_stick(0, 1, bound=3), ValueError, ["bound is 3", "'equal', 'at_least'"]),
    "form": (lambda p: p.add_angle_limit(0, 1, 2, maximum=1, form="distanse"), ValueError,
             ["form is 'distanse'", "'dot', 'distance'", "did you mean 'distance'?"]),
    "angles the wrong way round": (
        lambda p: p.add_angle_limit(1, 0, 2, minimum=2, maximum=1), ValueError, ["2 to 1", "minimum <= maximum"]),
    "angle above half a turn": (lambda p: p.add_angle_limit(1, 0, 2, maximum=4), ValueError, ["0 to 4", "<= π"]),
    "angle negative": (lambda p: p.add_angle_limit(1, 0, 2, minimum=-1), ValueError, ["-1 to", "0 <= minimum"]),
    "angle NaN": (lambda p: p.add_angle_limit(1, 0, 2, minimum=NAN), ValueError, ["minimum is nan", "finite"]),
    "angle without a limit": (
        lambda p: p.add_angle_limit(1, 0, 2), ValueError, ["without a limit", "minimum, maximum"]),
    "angle of two": (lambda p: p.add_angle_limit(1, 0, 1, minimum=1), ValueError, ["[1, 0, 1]", "three different"]),
    "angle at the unknown": (
        lambda p: p.add_angle_limit(1, 5, 2, minimum=1), IndexError, ["angle limit", "5", "0 to 3"]),
    "span of two": (lambda p: p.add_plane_limit(0, (1, 2)), ValueError, ["span of 2", "three"]),
    "span of one": (lambda p: p.add_plane_limit(0, 1), ValueError, ["span of 1", "three"]),
    "span holds the particle": (
        lambda p: p.add_plane_limit(0, (0, 1, 2)), ValueError, ["plane limit", "[0, 0, 1, 2]", "different"]),
    "plane distance": (lambda p: p.add_plane_limit(0, (1, 2, 3), NAN), ValueError, ["distance is nan", "finite"]),
    "bending of three": (lambda p: p.add_bending([(0, 1, 2)]), ValueError, ["bending", "(1, 3)", "(any, 4)"]),
    "bending twice one": (
        lambda p: p.add_bending([(0, 0, 1, 2)]), ValueError, ["bending", "[0, 0, 1, 2]", "different"]),
    "rest angle NaN": (
        lambda p: p.add_bending([(0, 1, 2, 3)], rest_angle=NAN), ValueError, ["bending rest angle is nan", "finite"]),
    "rest angle past half a turn": (
        lambda p: p.add_bending([(0, 1, 2, 3)], rest_angle=4), ValueError, ["rest angle is 4", "-π to π"]),
    "tetrahedron of three": (lambda p: p.add_volumes([(0, 1, 2)]), ValueError, ["tetrahedra", "(1, 3)", "(any, 4)"]),
    "tetrahedron unknown": (lambda p: p.add_volumes([(0, 1, 2, 8)]), IndexError, ["tetrahedra", "8", "0 to 3"]),
    "volume infinite": (lambda p: p.add_volumes([(0, 1, 2, 3)], volume=INF), ValueError, ["volume is inf", "finite"]),
    "weights of 1.1": (lambda p: p.add_attachment([0, 1], [0.5, 0.6], 2), ValueError, ["weights sum to 1.1", "1"]),
    "to_weights of 2": (lambda p: p.add_attachment(0, [1.0], 2, [2.0]), ValueError, ["to_weights sum to 2", "1"]),
    "weights too few": (lambda p: p.add_attachment([0, 1], [1.0], 2), ValueError, ["weights", "(1,)", "(2,)"]),
    "attached to itself": (
        lambda p: p.add_attachment([0, 1], [0.5, 0.5], 1), ValueError, ["attachment", "[0, 1, 1]", "different"]),
    "attached too many": (
        lambda p: (p.add_particles(np.zeros((6, 3))), p.add_attachment(range(8), [0.125] * 8, 9)),
        ValueError, ["attachment of 9", "at most 8"]),
    "kind unknown": (
        lambda p: p.add_constraints("stik", [(0, 1)], length=1), ValueError, ["'stik'", "did you mean 'stick'?"]),
    "kind of the wrong arity": (
        lambda p: p.add_constraints("stick", [(0, 1, 2)], length=1),
        ValueError, ["stick members", "(1, 3)", "(any, 2)"]),
    "kind without its number": (
        lambda p: p.add_constraints("stick", [(0, 1)], size=1), TypeError, ["stick", "parameters size", "length"]),
    "kind no kind": (lambda p: p.add_constraints(7, [(0, 1)]), TypeError, ["kind of constraint is 7", "pbd.Kind"]),
    "kind compliant": (
        lambda p: p.add_constraints(STICK.compliant, [(0, 1)], length=1),
        TypeError, ["(compliant)", "without compliance"]),
    "kind always rigid": (
        lambda p: p.add_constraints("attachment of 2", [(0, 1)], compliance=0.5, c0=1, c1=-1),
        ValueError, ["compliance is 0.5", "attachment of 2 is always rigid"]),
    "bound of a kind of one's own": (
        lambda p: pbd.scalar_constraint("mine", 2, (), None, bound="least"), ValueError, ["'least'", "at_least"]),
}  # fmt: skip


def system(p, **options):
    return pbd.ParticleSystem(p, **options)


def worlds(**other):
    """Two descriptions, the second with other surroundings."""
    return [four(), four(**other)]


REFUSED_BY_SYSTEM = {
    "no description": (lambda p: system(7), TypeError, ["particles is 7", "pbd.Particles"]),
    "no descriptions": (lambda p: system([]), TypeError, ["particles is []", "pbd.Particles"]),
    "no particles": (lambda p: system(pbd.Particles()), ValueError, ["no particles", "add some"]),
    "dt zero": (lambda p: system(p, dt=0), ValueError, ["dt is 0", "above zero"]),
    "dt negative": (lambda p: system(p, dt=-0.01), ValueError, ["dt is -0.01", "above zero"]),
    "dt NaN": (lambda p: system(p, dt=NAN), ValueError, ["dt is nan", "finite"]),
    "dt a word": (lambda p: system(p, dt="short"), TypeError, ["dt is 'short'", "number"]),
    "dt set to zero": (lambda p: setattr(system(p), "dt", 0), ValueError, ["dt is 0", "above zero"]),
    "iterations negative": (lambda p: system(p, iterations=-1), ValueError, ["iterations is -1", "0 or more"]),
    "iterations a half": (lambda p: system(p, iterations=1.5), TypeError, ["iterations is 1.5", "whole number"]),
    "substeps zero": (lambda p: system(p, substeps=0), ValueError, ["substeps is 0", "1 or more"]),
    "worlds zero": (lambda p: system(p, worlds=0), ValueError, ["worlds is 0", "1 or more"]),
    "clusters zero": (lambda p: system(p, schedule="clusters", clusters=0), ValueError, ["clusters is 0", "1 or more"]),
    "damping one": (lambda p: system(p, damping=1), ValueError, ["damping is 1", "0 <= damping < 1"]),
    "damping negative": (lambda p: system(p, damping=-0.1), ValueError, ["damping is -0.1", "0 <= damping < 1"]),
    "damping NaN": (lambda p: system(p, damping=NAN), ValueError, ["damping is nan", "finite"]),
    "tolerance zero": (lambda p: system(p, tolerance=0), ValueError, ["tolerance is 0", "above zero"]),
    "direction": (lambda p: system(p, direction="curent"), ValueError,
                  ["direction is 'curent'", "'current', 'start'", "did you mean 'current'?"]),
    "schedule": (lambda p: system(p, schedule="colored"), ValueError,
                 ["schedule is 'colored'", "'coloured'", "did you mean 'coloured'?"]),
    "sticks": (lambda p: system(p, sticks="rootfree"), ValueError,
               ["sticks is 'rootfree'", "'exact', 'root_free'", "did you mean 'root_free'?"]),
    "zero steps": (lambda p: system(p).step(0), ValueError, ["count is 0", "1 or more"]),
    "half a step": (lambda p: system(p).step(0.5), TypeError, ["count is 0.5", "whole number"]),
    "worlds of other sticks": (
        lambda p: (p.add_stick(0, 1), system([p, four()])), ValueError, ["world 1", "other constraints", "the same"]),
    "worlds of other ends": (
        lambda p: (p.add_stick(0, 1), (other := four()).add_stick(0, 2), system([p, other])),
        ValueError, ["world 1", "other constraints (stick)", "the same"]),
    "worlds of more particles": (
        lambda p: (p.add_particle((0, 0, 0)), system([four(), p])), ValueError, ["world 1", "structure", "the same"]),
    "wind NaN later": (
        lambda p: ((q := four(wind=lambda t: (NAN, 0, 0))).add_triangles([(0, 1, 2)]), system(q).step()),
        ValueError, ["wind", "nan", "finite"]),
    "path NaN later": (
        lambda p: (p.drive([0], lambda t: (0, 0, NAN if t > 0 else 0)), system(p).step()),
        ValueError, ["path", "nan", "finite"]),
    "unknown mass": (lambda p: system(p).set_masses([4], 1.0), IndexError, ["particles", "4", "0 to 3"]),
    "set mass zero": (lambda p: system(p).set_masses([1], 0.0), ValueError, ["mass is 0", "above zero"]),
    "set mass NaN": (lambda p: system(p).set_masses([1], NAN), ValueError, ["mass is nan", "expected"]),
    "set positions of three": (
        lambda p: system(p).set_positions(np.zeros((3, 3))), ValueError, ["positions", "(3, 3)", "(4, 3)"]),
    "set positions NaN": (
        lambda p: system(p).set_positions(np.full((4, 3), NAN)), ValueError, ["positions", "nan", "finite"]),
    "set velocities flat": (
        lambda p: system(p).set_velocities(np.zeros(3)), ValueError, ["velocities", "(3,)", "(4, 3)"]),
    "set forces of two worlds": (
        lambda p: system(p).set_forces(np.zeros((2, 4, 3))), ValueError, ["forces", "(2, 4, 3)", "(1, 4, 3)"]),
    "set forces infinite": (
        lambda p: system(p).set_forces(np.full((4, 3), INF)), ValueError, ["forces", "inf", "finite"]),
}  # fmt: skip

REFUSED_BY_WORLDS = {
    "damping a word": (lambda p: system(p, damping="2"), TypeError, ["damping is '2'", "a number"]),
    "set masses of three": (
        lambda p: system(p).set_masses([0, 1], [1, 2, 3]), ValueError, ["mass is [1, 2, 3]", "(2,)"]),
    "path changes shape": (
        lambda p: (p.drive([0], lambda t: (0, 0, 0) if t == 0 else (0, 0)), system(p).step()),
        ValueError, ["path", "(1, 2)", "(1, 3)"]),
    "motion no position": (
        lambda p: p.add_collider(pbd.Plane(), motion=lambda t: 3.0), TypeError, ["motion gave 3.0", "position"]),
    "mass of the led": (
        lambda p: (p.drive([0], lambda t: (0, 0, 0)), system(p).set_masses([1, 0], 1.0)),
        ValueError, ["particle 0", "path"]),
    "root-free and start": (
        lambda p: system(p, sticks="root_free", direction="start"), ValueError, ["root_free", "start", "one of them"]),
    "box too narrow": (
        lambda p: (p.add_particle((0, 0, 0), radius=2.0), p.add_box((-1, -5, -5), (1, 5, 5)), system(p)),
        ValueError, ["box from", "4 wide", "room"]),
    "tolerance set to zero": (
        lambda p: setattr(system(p), "tolerance", 0.0), ValueError, ["tolerance is 0", "above zero"]),
    "iterations set to a half": (
        lambda p: setattr(system(p), "iterations", 0.5), TypeError, ["iterations is 0.5", "whole number"]),
    "substeps set to zero": (
        lambda p: setattr(system(p), "substeps", 0), ValueError, ["substeps is 0", "1 or more"]),
    "worlds twice": (lambda p: system([p, p], worlds=5), ValueError, ["worlds is 5", "2"]),
    "worlds of other gravity": (lambda p: system(worlds(gravity=(0, 0, 0))), ValueError, ["world 1", "gravity"]),
    "worlds of other wind": (lambda p: system(worlds(wind=(1, 0, 0))), ValueError, ["world 1", "wind"]),
    "worlds of other air": (lambda p: system(worlds(air_density=2.0)), ValueError, ["world 1", "air"]),
    "worlds of other colliders": (
        lambda p: (p.add_collider(pbd.Plane()), system([four(), p])), ValueError, ["world 1", "collider"]),
    "worlds of other boxes": (
        lambda p: (p.add_box((-1, -1, -1), (1, 1, 1)), system([four(), p])), ValueError, ["world 1", "box"]),
    "worlds of other paths": (
        lambda p: (p.drive([0], lambda t: (0, 0, 0)), system([four(), p])), ValueError, ["world 1", "path"]),
    "worlds of other contacts": (
        lambda p: (p.add_particle_contacts(), system([four(), p])), ValueError, ["world 1", "contacts"]),
    "worlds of other triangles": (
        lambda p: (p.add_triangles([(0, 1, 2)]), system([four(), p])), ValueError, ["world 1", "triangles"]),
}  # fmt: skip

REFUSED = {**REFUSED_BY_PARTICLES, **REFUSED_BY_CONSTRAINTS, **REFUSED_BY_SYSTEM, **REFUSED_BY_WORLDS}


def check_refusal(act, error, words):
    with pytest.raises(error) as caught:
        act(four())
    assert caught.type is error
    message = str(caught.value)
    assert all(word in message for word in words), message


@pytest.mark.filterwarnings("error")  # a refusal is one message, not that and a warning from numpy
@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_in_words(case):
    check_refusal(*REFUSED[case])


def test_a_refused_description_is_left_as_it_was():
    particles = four()
    for act, error, _ in {**REFUSED_BY_PARTICLES, **REFUSED_BY_CONSTRAINTS}.values():
        before = len(particles), len(particles.colliders), len(particles.boxes), len(particles.batches)
        with pytest.raises(error):
            act(particles)
        if len(particles) != 4:  # the one case that adds particles in order to be refused
            particles = four()
            continue
        if particles.drives:  # the one case that gives a first path in order to be refused the second
            assert len(particles.drives) == 1
            particles = four()
            continue
        assert before == (4, 0, 0, 0)
        assert (len(particles), len(particles.colliders), len(particles.boxes), len(particles.batches)) == before
        assert np.isfinite(particles.masses).all()


def test_without_ti_init_the_error_says_what_to_call():
    # Taichi can be initialised once in a process: a process of its own. A description needs no ti.init at all.
    program = (
        "import pbd\n"
        "p = pbd.Particles()\n"
        "p.add_particles([(0, 0, 0), (1, 0, 0)])\n"
        "p.add_stick(0, 1)\n"
        "p.add_collider(pbd.Plane())\n"
        "pbd.ParticleSystem(p)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("RuntimeError:")
    assert "ti.init(arch=ti.cpu, default_fp=ti.f64)" in last


# Descriptions -------------------------------------------------------------------------------------------------------


def test_indices_are_returned_in_order_and_numbers_are_for_all_or_one_each():
    particles = pbd.Particles()
    assert particles.add_particle((1, 2, 3), 2.0, (4, 5, 6), 0.5) == 0
    assert particles.add_particles(np.ones((3, 3)), [1.0, 2.0, INF], 0.0, 0.1).tolist() == [1, 2, 3]
    assert len(particles) == 4
    assert particles.positions.tolist() == [[1, 2, 3], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
    assert particles.velocities.tolist() == [[4, 5, 6], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert particles.masses.tolist() == [2, 1, 2, INF]
    assert particles.radii.tolist() == [0.5, 0.1, 0.1, 0.1]


def test_a_pinned_particle_loses_its_velocity_and_stays():
    particles = pbd.Particles()
    particles.add_particles(np.eye(3), velocity=(1, 1, 1))
    particles.pin(1)
    assert particles.velocities.tolist() == [[1, 1, 1], [0, 0, 0], [1, 1, 1]]
    s = system(particles, dt=0.1)
    s.set_forces(np.ones((3, 3)))
    s.step(10)
    assert s.positions()[1].tolist() == [0, 1, 0]
    assert not s.velocities()[1].any()


def test_the_input_is_copied():
    x, masses = np.zeros((2, 3)), np.ones(2)
    particles = pbd.Particles()
    particles.add_particles(x, masses)
    x += 1
    masses += 1
    assert not particles.positions.any()
    assert particles.masses.tolist() == [1, 1]


# Attachments --------------------------------------------------------------------------------------------------------


def attached(particles, weights, to, to_weights, masses, iterations=1, direction="current"):
    """Random particles with an attachment: positions before, and the system after one step."""
    description = pbd.Particles(gravity=(0, 0, 0))
    x = np.random.default_rng(6).normal(size=(len(masses), 3))
    description.add_particles(x, masses)
    description.add_attachment(particles, weights, to, to_weights)
    s = system(description, iterations=iterations, direction=direction)
    s.step()
    return x, s


@pytest.mark.parametrize("direction", ["current", "start"])
@pytest.mark.parametrize("to", [[3], [3, 4], [3, 4, 5, 6]])
def test_an_attachment_is_the_closed_form(to, direction):
    # One projection: x_i += c_i w_i λ Δ with Δ = q - p for p's particles (b for -c on the other side), and
    # λ = 1/(Σ a² w + Σ b² w). It is linear, so that one sweep meets it to round-off.
    masses = np.array([1.0, 7.0, 2.0, 5.0, 0.5, 3.0, 1.0])
    a = np.array([0.5, 0.7, -0.2])
    b = np.linspace(1, 2, len(to)) / np.linspace(1, 2, len(to)).sum()
    x, s = attached([0, 1, 2], a, to, b, masses, direction=direction)
    c, members = np.concatenate([a, -b]), [0, 1, 2, *to]
    w = 1 / masses[members]
    gap = c @ x[members]
    expected = x.copy()
    expected[members] -= np.outer(c * w, gap) / (c**2 @ w)
    assert np.abs(gap).max() > 0.1
    assert np.abs(s.positions() - expected).max() < 1e-14
    assert np.abs(c @ s.positions()[members]).max() < 1e-14
    # Σ m Δx = -(Σ c) λ gap = 0: linear momentum, with masses from 0.5 to 7.
    assert np.abs(masses @ (s.positions() - x)).max() < 1e-14


def test_two_particles_of_mass_one_and_seven_meet_at_their_centre_of_mass():
    x, s = attached(0, [1.0], 1, [1.0], [1.0, 7.0])
    centre = (x[0] + 7 * x[1]) / 8
    assert np.abs(s.positions() - centre).max() < 1e-15


def test_a_point_attached_to_a_pinned_particle_meets_it_and_does_not_move_it():
    x, s = attached([0, 1], [0.25, 0.75], 2, [1.0], [1.0, 7.0, INF])
    after = s.positions()
    assert np.array_equal(after[2], x[2])
    assert np.abs(0.25 * after[0] + 0.75 * after[1] - x[2]).max() < 1e-15
    # The mass-weighted least change: Δx_i in proportion to c_i / m_i.
    assert np.abs((after[0] - x[0]) / (0.25 / 1) - (after[1] - x[1]) / (0.75 / 7)).max() < 1e-14


def test_an_attachment_of_pinned_particles_alone_does_nothing():
    x, s = attached(0, [1.0], 1, [1.0], [INF, INF])
    assert np.array_equal(s.positions(), x)


# Angle and plane limits ---------------------------------------------------------------------------------------------


def elbow(degrees, length=1.0, masses=(1.0, 7.0, 2.0)):
    """Particles end, vertex, end with an angle between the arms; the first arm of length 1."""
    particles = pbd.Particles(gravity=(0, 0, 0))
    angle = math.radians(degrees)
    particles.add_particles(
        [(1, 0, 0), (0, 0, 0), (length * math.cos(angle), length * math.sin(angle), 0)], np.array(masses)
    )
    return particles


def angle_of(x):
    u, v = x[0] - x[1], x[2] - x[1]
    return math.atan2(np.linalg.norm(np.cross(u, v)), u @ v)


@pytest.mark.parametrize("form", ["dot", "distance"])
@pytest.mark.parametrize("length", [1.0, 2.5])
@pytest.mark.parametrize(("limits", "start", "limit"), [
    ({"minimum": 60}, 59.5, 60), ({"minimum": 60}, 80, None), ({"maximum": 60}, 60.5, 60), ({"maximum": 60}, 40, None),
    ({"minimum": 50, "maximum": 100}, 100.5, 100), ({"minimum": 50, "maximum": 100}, 49.5, 50),
    ({"minimum": 50, "maximum": 100}, 75, None),
])  # fmt: skip
def test_an_angle_is_brought_to_its_limit_and_left_alone_within(form, length, limits, start, limit):
    # Arms held by sticks, so that both forms are the same angle. One Newton step for the distance from δ beyond the
    # limit ends about ½ |cot θ| δ² on the permitted side, and an inequality stays there: for δ = 0.5° and
    # the angles here less than ½ · 0.84 · (8.7e-3)² = 3.2e-5, doubled for the sticks' share.
    particles = elbow(start, length)
    x = particles.positions.copy()
    particles.add_sticks([(0, 1), (1, 2)])
    particles.add_angle_limit(0, 1, 2, **{name: math.radians(value) for name, value in limits.items()}, form=form)
    s = system(particles, iterations=500)
    s.step()
    after = s.positions()
    if limit is None:
        assert np.abs(after - x).max() < 1e-15
    else:
        inside = (angle_of(after) - math.radians(limit)) * (1 if start < limit else -1)
        assert -1e-12 < inside < 6.4e-5
    assert np.linalg.norm(after[2] - after[1]) == pytest.approx(length, abs=1e-12)
    # Masses 1, 7 and 2: the centre of mass stays.
    assert np.abs(np.array([1.0, 7.0, 2.0]) @ (after - x)).max() < 1e-12


@pytest.mark.parametrize("form", ["dot", "distance"])
@pytest.mark.parametrize("length", [1.0, 2.5])
def test_an_angle_limited_from_both_sides_converges_from_afar(form, length):
    particles = elbow(60, length)
    particles.add_sticks([(0, 1), (1, 2)])
    particles.add_angle_limit(0, 1, 2, minimum=math.radians(90), maximum=math.radians(90), form=form)
    s = system(particles, iterations=500)
    s.step()
    assert math.degrees(angle_of(s.positions())) == pytest.approx(90, abs=1e-9)


def test_the_dot_form_is_an_angle_whatever_the_arms_become():
    # Without sticks the arms change their lengths; the angle is nevertheless the limit.
    particles = elbow(30, 2.5)
    particles.add_angle_limit(0, 1, 2, minimum=1.2)
    particles.add_angle_limit(0, 1, 2, maximum=1.2)
    s = system(particles, iterations=100)
    s.step()
    assert angle_of(s.positions()) == pytest.approx(1.2, abs=1e-12)


def test_limits_of_zero_and_half_a_turn_are_accepted_and_never_act():
    for form in ("dot", "distance"):
        particles = elbow(70)
        x = particles.positions.copy()
        particles.add_angle_limit(0, 1, 2, minimum=0.0, maximum=math.pi, form=form)
        s = system(particles)
        s.step()
        assert np.abs(s.positions() - x).max() < 1e-15


@pytest.mark.parametrize("distance", [0.0, 0.3])
@pytest.mark.parametrize(("height", "acts"), [(-0.4, True), (0.1, None), (0.7, False)])
def test_a_plane_limit_keeps_a_particle_on_its_side(distance, height, acts):
    # C = n·(x0 - x1) - d >= 0 with the normal of (x1, x2, x3), counter-clockwise seen from the permitted side.
    acts = height < distance if acts is None else acts
    particles = pbd.Particles(gravity=(0, 0, 0))
    x = np.array([(0.3, 0.2, height), (0, 0, 0), (1, 0, 0), (0, 1, 0)], float)
    masses = np.array([1.0, 7.0, 2.0, 3.0])
    particles.add_particles(x, masses)
    particles.add_plane_limit(0, (1, 2, 3), distance)
    s = system(particles, iterations=50)
    s.step()
    after = s.positions()
    normal = np.cross(after[2] - after[1], after[3] - after[1])
    reached = normal @ (after[0] - after[1]) / np.linalg.norm(normal)
    assert reached == pytest.approx(distance if acts else height, abs=1e-12)
    assert acts == bool(np.abs(after - x).max() > 1e-6)
    assert np.abs(masses @ (after - x)).max() < 1e-13


def test_a_plane_limit_to_pinned_particles_moves_the_particle_alone_and_straight():
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0.3, 0.2, -0.4), (0, 0, 0), (1, 0, 0), (0, 1, 0)], [2.0, INF, INF, INF])
    particles.add_plane_limit(0, (1, 2, 3), 0.1)
    s = system(particles, iterations=1)
    s.step()
    assert s.positions()[0] == pytest.approx([0.3, 0.2, 0.1], abs=1e-15)


# Defaults -----------------------------------------------------------------------------------------------------------


def test_defaults_are_the_present_shape():
    # Length, rest angle and volume of a random tetrahedron are its own: nothing moves, and nothing is violated, but for
    # round-off. (2 sin((θ - θ0)/2), with the angle once from numpy and once from the kernel.)
    particles = pbd.Particles(gravity=(0, 0, 0))
    x = np.random.default_rng(7).normal(size=(4, 3))
    particles.add_particles(x, [1.0, 7.0, 2.0, 3.0])
    particles.add_sticks([(0, 1), (1, 2)])
    particles.add_bending([(0, 1, 2, 3), (1, 2, 0, 3)])
    particles.add_volumes([(0, 1, 2, 3), (1, 0, 2, 3)])
    s = system(particles)
    s.step()
    assert np.abs(s.positions() - x).max() < 1e-14
    assert s.statistics().residual < 1e-14
    volume = particles.batches["volume", False].arrays()[1][:, 0]
    exact = (x[1] - x[0]) @ np.cross(x[2] - x[0], x[3] - x[0]) / 6
    assert volume == pytest.approx([exact, -exact], rel=1e-12)


@pytest.mark.parametrize("degrees", [-170, -90, -10, 0, 35, 90, 179])
def test_the_dihedral_angle_is_zero_when_flat_and_has_the_sign_of_the_fold(degrees):
    # Edge along y; one corner at -x, the other at angle θ from the plane's continuation.
    fold = math.radians(degrees)
    corners = np.array([[(0, 0, 0), (0, 1, 0), (-1, 0.3, 0), (math.cos(fold), 0.6, math.sin(fold))]])
    assert abs(dihedral_angle(corners)[0]) == pytest.approx(abs(fold), abs=1e-14)
    mirrored = corners * [1, 1, -1]
    assert dihedral_angle(mirrored)[0] == pytest.approx(-dihedral_angle(corners)[0], abs=1e-14)


@pytest.mark.parametrize("rest", [-2.0, 0.5, 3.0])
def test_bending_folds_to_the_rest_angle_that_is_asked_for(rest):
    # The same angle, from the description's formula, after the kernel has folded to it.
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particles([(0, 0, 0), (0, 1, 0), (-1, 0.3, 0), (1, 0.6, 0.1)], [1.0, 7.0, 2.0, 3.0])
    particles.add_bending([(0, 1, 2, 3)], rest_angle=rest)
    s = system(particles, iterations=200)
    s.step()
    assert dihedral_angle(s.positions()[None])[0] == pytest.approx(rest, abs=1e-9)


def test_a_kind_of_ones_own_goes_with_its_bound_and_compliance():
    # The angle's kind, given as an object, is the same as by its method.
    found = []
    for own in (False, True):
        particles = elbow(30)
        if own:
            particles.add_constraints(ANGLE_AT_LEAST, [(1, 0, 2)], 1e-4, limit=1.0)
        else:
            particles.add_angle_limit(0, 1, 2, minimum=1.0, compliance=1e-4)
        s = system(particles)
        s.step(3)
        found.append(s.positions())
    assert np.array_equal(*found)
    assert angle_of(found[0]) > math.radians(30)
