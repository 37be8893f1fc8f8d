"""Errors of descriptions and systems, and their messages."""

import math
import subprocess
import sys

import numpy as np
import pytest

import pbd
from pbd.constraints import STICK

NAN, INF = math.nan, math.inf


def four(**environment):
    """Four particles that span a tetrahedron of volume 1/6."""
    particles = pbd.Particles(**environment)
    particles.add_particles([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    return particles


# Each entry: what is done to `four()`; the type of the error; words of its message: name, value, expectation.

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
        ValueError, ["particle 4", "pinned", "velocity", "add_path()"]),
    "pin unknown": (lambda p: p.pin([0, 9]), IndexError, ["particles", "9", "4 particles, 0 to 3"]),
    "pin a fraction": (lambda p: p.pin(1.5), TypeError, ["particles", "1.5", "whole numbers"]),
    "pin a table": (lambda p: p.pin([[0, 1], [2, 3]]), ValueError, ["particles", "(2, 2)", "(any,)"]),
    "path no function": (lambda p: p.add_path([0], (0, 0, 0)), TypeError, ["path", "(0, 0, 0)", "function of time"]),
    "path of four": (lambda p: p.add_path([0], lambda t: (0, 0, 0, 0)), ValueError, ["path", "(1, 4)", "(1, 3)"]),
    "path for one of two": (
        lambda p: p.add_path([0, 1], lambda t: (0, 0, 0)), ValueError, ["path", "(1, 3)", "(2, 3)"]),
    "path NaN": (lambda p: p.add_path([0], lambda t: (0, 0, NAN)), ValueError, ["path", "nan", "finite"]),
    "path for a table": (
        lambda p: p.add_path([[0]], lambda t: (0, 0, 0)), ValueError, ["particles", "(1, 1)", "(any,)"]),
    "path for the unknown": (lambda p: p.add_path([4], lambda t: (0, 0, 0)), IndexError, ["particles", "4", "0 to 3"]),
    "two paths": (
        lambda p: [
            p.add_path([2], lambda t: (0, 1, 0)), p.add_path([1, 2], lambda t: np.array([(1, 0, 0), (0, 1, 0)]))
        ],
        ValueError, ["particle 2", "two paths", "one"]),
    "path that begins elsewhere": (
        lambda p: p.add_path([1], lambda t: (0, 0, 2)),
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
        lambda p: pbd.Capsule(0.5, start=(1, 1, 1), end=(1, 1, 1)), ValueError, ["capsule", "itself", "two points"]),
    "box of no width": (lambda p: pbd.Box(size=(1, 0, 1)), ValueError, ["box size is 0", "above zero"]),
    "box turned by nothing": (
        lambda p: pbd.Box((1, 1, 1), rotation=(0, 0, 0, 0)), ValueError,
        ["box rotation", "(0, 0, 0, 0)", "(w, x, y, z)"]),
}  # fmt: skip

REFUSED_BY_CONSTRAINTS = {
    "stick to itself": (lambda p: p.add_stick(2, 2), ValueError, ["stick", "particle 2", "itself", "two particles"]),
    "stick to the unknown": (lambda p: p.add_stick(0, 4), IndexError, ["b of a stick", "4", "4 particles, 0 to 3"]),
    "stick from minus one": (lambda p: p.add_stick(-1, 0), IndexError, ["a of a stick", "-1", "0 to 3"]),
    "stick of nobody": (lambda p: pbd.Particles().add_stick(0, 1), IndexError, ["a of a stick", "no particles yet"]),
    "stick of a fraction": (lambda p: p.add_stick(0, 1.0), TypeError, ["b of a stick is 1.0", "whole number"]),
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
    "type no type": (
        lambda p: p.add_constraints(7, [(0, 1)]), TypeError, ["constraint type is 7", "pbd.ConstraintType"]),
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
    """Two descriptions, the second with another environment."""
    return [four(), four(**other)]


REFUSED_BY_SYSTEM = {
    "no description": (lambda p: system(7), TypeError, ["particles is 7", "pbd.Particles"]),
    "no descriptions": (lambda p: system([]), TypeError, ["particles is []", "pbd.Particles"]),
    "no particles": (lambda p: system(pbd.Particles()), ValueError, ["no particles", "expected some"]),
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
    "no option": (lambda p: system(p, iteration=3), ValueError, ["'iteration'", "did you mean 'iterations'?"]),
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
        lambda p: (p.add_path([0], lambda t: (0, 0, NAN if t > 0 else 0)), system(p).step()),
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
        lambda p: (p.add_path([0], lambda t: (0, 0, 0) if t == 0 else (0, 0)), system(p).step()),
        ValueError, ["path", "(1, 2)", "(1, 3)"]),
    "motion no position": (
        lambda p: p.add_collider(pbd.Plane(), motion=lambda t: 3.0),
        TypeError, ["3.0 given by a collider's motion", "position"]),
    "mass of the led": (
        lambda p: (p.add_path([0], lambda t: (0, 0, 0)), system(p).set_masses([1, 0], 1.0)),
        ValueError, ["particle 0", "path"]),
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
        lambda p: (p.add_path([0], lambda t: (0, 0, 0)), system([four(), p])), ValueError, ["world 1", "path"]),
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


@pytest.mark.filterwarnings("error")  # one error, without a warning of numpy
@pytest.mark.parametrize("case", REFUSED)
def test_bad_input_is_refused_with_a_clear_message(case):
    check_refusal(*REFUSED[case])


def test_a_refused_call_does_not_change_the_description():
    particles = four()
    for act, error, _ in {**REFUSED_BY_PARTICLES, **REFUSED_BY_CONSTRAINTS}.values():
        before = len(particles), len(particles.colliders), len(particles.boxes), len(particles.constraint_sets)
        with pytest.raises(error):
            act(particles)
        if len(particles) != 4:  # this case alone adds particles before its error
            particles = four()
            continue
        if particles.paths:  # only this case gives a first path, so that the second is refused
            assert len(particles.paths) == 1
            particles = four()
            continue
        assert before == (4, 0, 0, 0)
        after = len(particles), len(particles.colliders), len(particles.boxes), len(particles.constraint_sets)
        assert after == before
        assert np.isfinite(particles.masses()).all()


def test_without_ti_init_the_error_says_what_to_call():
    # Taichi can be initialised once in a process, so this is a process of its own. A description needs no ti.init.
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
