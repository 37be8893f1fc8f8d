"""Quick, public and plain kernels have the same bits, and a debugger stops in plain ones."""

import ast
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import taichi as ti
from documents import ROOT, fences
from marks import slow

import pbd
from pbd.constraints import stick
from pbd.core.kernels.mode import choose
from pbd.core.kernels.plain.values import Matrix, Vector

GUIDE = ROOT / "docs" / "guides" / "debugger.md"

# How kernels run is chosen before the first import, so each mode has a process of its own. One program takes digests of
# scenes; the other of a cloth in wind that touches itself and a ball, in two worlds.
BEGIN = """
import json, sys
import taichi as ti
bits, *given = json.loads(sys.argv[1])
ti.init(arch=ti.cpu, default_fp=getattr(ti, f"f{bits}"), log_level=ti.ERROR, opt_level=0)
"""
SCENES = """
sys.path.insert(0, "tests/golden")
import golden
golden.DURATION, pairs = given
print(json.dumps([golden.measure(*pair)["digest"] for pair in pairs]))
"""
CLOTH = """
import pbd
from pbd import build
particles = pbd.Particles(wind=(1.0, 0.0, 2.0))
build.cloth(particles, origin=(0, 0, 0.16), right=(0.1, 0, 0), down=(0, 0.1, 0.02), counts=(4, 4), thickness=0.09)
particles.add_collider(pbd.Sphere(0.1, centre=(0.1, 0.1, 0.0)), friction=0.4)
system = pbd.ParticleSystem(particles, worlds=2, iterations=4, dt=0.01, grabs=1)
system.step(12)
print(json.dumps(system.digest()))
"""
NET = """
import pbd
particles = pbd.Particles()
particles.add_particles([(0, 0, 0.1), (0.1, 0, 0.1), (0, 0.1, 0.1)], 1.0)
particles.add_sticks([(0, 1), (1, 2), (2, 0)])
particles.add_collider(pbd.Plane(), friction=0.3)
system = pbd.ParticleSystem(particles, dt=0.02, iterations=3, solve="iterative")
system.set_velocities([(1.0, 0.2, 0), (0, 0, 1.0), (0, 0, 0)])
system.step(12)
print(json.dumps(system.digest()))
"""
RODS = """
import pbd
from pbd import build
particles = pbd.Particles()
build.rod(particles, [(0, 0, 0), (0.2, 0, 0.1)], 3, radius=0.01, density=1e3, young=1e6, clamps="start",
          natural=((2.0, 0.0), 5.0), damping=0.01)
digests = []
for direction in ("current", "start"):
    system = pbd.ParticleSystem(particles, iterations=3, substeps=2, dt=0.01, direction=direction)
    system.step(4)
    digests.append(system.digest())
print(json.dumps(digests))
"""
SURFACES = """
import pbd
from pbd import build
particles = pbd.Particles()
for z in (0.0, 0.03):
    build.cloth(
        particles, (z, z, z), (0.1, 0.01, 0), (0, 0.1, 0), (3, 3), thickness=0.02, friction=0.3, contacts="surface",
        pins=() if z else ("left_top", "right_bottom"),
    )
build.rope(particles, [(0, 0.05, 0.07), (0.1, 0.06, 0.08)], 2, mass=0.01, radius=0.005, friction=0.2)
system = pbd.ParticleSystem(particles, worlds=2, iterations=3, substeps=2, dt=0.02)
system.step(8)
assert system.statistics().contacts.min() > 0
print(json.dumps(system.digest()))
"""
COLOURED = """
import rigid
model = rigid.Model()
model.add_ground()
for k in range(3):
    model.add_box((0.2, 0.2, 0.2), position=(0, 0, 0.1 + 0.2 * k), mass=1.0)
solver = rigid.solver("impulse", model, dt=1 / 60, coloured=True)
solver.step(3)
print(json.dumps(solver.digest()))
"""


def in_process(arguments, mode, **options):
    """Run Python in a process of its own. Args: arguments; mode: of kernels; options. Returns: standard output."""
    environment = {**os.environ, "VERLETLAB_KERNELS": mode, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env=environment,
        **{"cwd": ROOT, **options},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def digests(mode, program, *given):
    """What a program prints. Args: mode: of kernels; program: text after BEGIN; given: bits, and what it reads."""
    return json.loads(in_process(["-c", BEGIN + program, json.dumps(given)], mode).splitlines()[-1])


BITS = [64, slow(32)]
SHORT = [("pendulum", "impulse")]
OTHERS = [
    ("pendulum", "verlet"), ("pendulum", "articulated"), ("pendulum", "penalty"), ("slope", "impulse"),
    ("slope", "verlet"), ("box", "verlet"),
]  # fmt: skip


@pytest.mark.parametrize("pairs", [SHORT, slow(OTHERS)], ids=["short", "others"])
@pytest.mark.parametrize("bits", BITS)
def test_plain_kernels_have_the_bits_of_compiled_ones(bits, pairs):
    assert digests("plain", SCENES, bits, 0.05, pairs) == digests("quick", SCENES, bits, 0.05, pairs)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("program", [CLOTH, SURFACES], ids=["spheres", "surfaces"])
def test_plain_cloth_has_the_bits_of_the_compiled_one(program, bits):
    assert digests("plain", program, bits) == digests("quick", program, bits)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("mode", ["plain", "public"])
def test_rods_have_the_bits_of_quick_ones_in_all_modes(mode, bits):
    assert digests(mode, RODS, bits) == digests("quick", RODS, bits)


@pytest.mark.slow
def test_public_surfaces_have_the_bits_of_quick_ones():
    assert digests("public", SURFACES, 64) == digests("quick", SURFACES, 64)


@pytest.mark.slow
def test_plain_colours_of_contacts_have_the_bits_of_the_compiled_ones():
    """They are bits of integers of 64 bits, and their loops are those of threads, of which there is one here."""
    assert digests("plain", COLOURED, 64) == digests("quick", COLOURED, 64)


LONG = [
    ("top", "verlet"), ("top", "impulse"), ("top", "articulated"), ("top", "penalty"), ("five_link_chain", "verlet"),
    ("five_link_chain", "articulated"), ("dzhanibekov", "impulse"), ("bouncing_balls", "impulse"),
    ("slope", "verlet"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("mode", ["plain", "public"])
def test_all_modes_have_the_same_bits_in_longer_runs(mode, bits):
    assert digests(mode, SCENES, bits, 0.1, LONG) == digests("quick", SCENES, bits, 0.1, LONG)


def test_public_sticks_have_the_bits_of_quick_ones():
    assert digests("public", NET, 64) == digests("quick", NET, 64)


@pytest.mark.slow
@pytest.mark.parametrize("pair", [("box", "verlet"), ("pendulum", "verlet"), ("slope", "penalty")], ids="-".join)
def test_public_kernels_have_the_bits_of_quick_ones(pair):
    assert digests("public", SCENES, 64, 0.05, [pair]) == digests("quick", SCENES, 64, 0.05, [pair])


def private_modules(path):
    """Private modules of Taichi that a file imports or names. Args: path."""
    names = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
        elif isinstance(node, ast.Import):
            names += [each.name for each in node.names]
        elif isinstance(node, ast.Attribute):
            private = node.attr in ("_is_taichi_function", "_is_wrapped_kernel", "_primal")
            owner = "ti" if private else getattr(node.value, "id", "")
            names.append(f"{owner}.{node.attr}")
    return [name for name in names if re.match(r"(taichi|ti)\.(lang|_[a-z])", name)]


def test_one_folder_knows_the_insides_of_taichi():
    door = ROOT / "pbd" / "core" / "kernels"
    sources = [path for package in ("pbd", "rigid", "scenes") for path in (ROOT / package).rglob("*.py")]
    inside, outside = ([path for path in sources if path.is_relative_to(door) == within] for within in (True, False))
    assert not [(path, names) for path in outside if (names := private_modules(path))]
    assert any(map(private_modules, inside))
    for mode in ("public", "plain"):
        assert not any(map(private_modules, (door / mode).rglob("*.py")))


@pytest.mark.parametrize(
    ("given", "version", "chosen"),
    [(None, (1, 7, 4), "quick"), ("plain", (1, 8, 0), "plain"), ("public", (1, 7, 4), "public")],
)
def test_the_version_of_taichi_chooses_the_mode(given, version, chosen):
    assert choose(given, version) == chosen


def test_another_version_of_taichi_has_public_kernels_and_a_warning():
    with pytest.warns(UserWarning, match=r"Taichi 1\.7\.3: pbd\.KERNELS is 'public'"):
        assert choose(None, (1, 7, 3)) == "public"


def test_quick_kernels_of_another_version_are_refused():
    with pytest.raises(ValueError, match=r"VERLETLAB_KERNELS is 'quick' with Taichi 1\.7\.3: expected 'public'"):
        choose("quick", (1, 7, 3))


@pytest.mark.parametrize(("number", "result"), [(0, "length"), slow(1, "velocity"), slow(2, "momenta")])
def test_a_session_of_the_guide(tmp_path, number, result):
    """Lines after a prompt are given to pdb; the others are printed, after the place where it stops."""
    program, session = fences(GUIDE, "python")[number], fences(GUIDE, "none")[number]
    (tmp_path / "program.py").write_text(program)
    commands = re.findall(r"^\(Pdb\) (.*)$", session, re.MULTILINE)
    printed = in_process(
        ["-m", "pdb", "program.py"], "plain", cwd=tmp_path, input="\n".join([*commands, "continue", "quit", ""])
    )
    place = 0
    for line in session.splitlines():
        if not line.startswith("(Pdb)"):
            place = printed.find(line, place) + 1
            assert place, f"pdb does not print {line!r}:\n{printed}"
    if result == "momenta":  # m v, and x × m v about the origin, before the step and after it
        found = re.findall(r"(?:before|after): \[(.*)\]$", printed, re.MULTILINE)
        expected = [(2, 0, -2), (0, 0.6, 0)] * 2
        assert np.array([each.split() for each in found[:4]], float) == pytest.approx(np.array(expected), abs=1e-8)
        return
    (found,) = re.findall(r"^(?:\(Pdb\) )?\[ *([-\d. e]+)\]$", printed, re.MULTILINE)
    if result == "length":  # one projection leaves the stick as long as the direction to the predicted place allows: 1
        assert np.linalg.norm(np.array(found.split(), float)) == pytest.approx(1.0, abs=1e-8)
    else:  # v - μ g h
        assert np.array(found.split(), float) == pytest.approx((0.95, 0, 0), abs=1e-8)


def test_projection_by_hand():
    """The function behind a Taichi function takes vectors: both ends move by half, along the stick."""
    project = pbd.plain(stick.project_along_current)
    ends = project([Vector([0.0, 0.0, 0.0]), Vector([3.0, 0.0, 0.0])], None, [1.0, 1.0], 1.0)
    assert [list(end) for end in ends] == [pytest.approx([1, 0, 0]), pytest.approx([2, 0, 0])]


@ti.func
def assignments(v, m):
    kept, w = v, v
    w[0] += 2.0
    m[0, 1] = 5.0
    return kept, w, m @ v, v.cross(w), ti.max(v, 0.5), 1.0 / (v[1] - 2.0), ti.round(2.5)


def test_values_are_those_of_taichi():
    """Assignments copy, arguments are passed by value, and a division by zero is infinite."""
    v, m = Vector([1.0, 2.0, 3.0]), Matrix([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    with np.errstate(divide="ignore"):
        kept, w, product, cross, most, infinite, rounded = pbd.plain(assignments)(v, m)
    assert list(v) == list(kept) == [1, 2, 3]
    assert list(w) == [3, 2, 3]
    assert m[0, 1] == 0
    assert list(product) == [11, 2, 3]
    assert list(cross) == [0, 6, -4]
    assert list(most) == [1, 2, 3]
    assert infinite == np.inf
    assert rounded == 3


def test_an_unknown_mode_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", "import pbd"], capture_output=True, text=True, check=False, cwd=ROOT,
        env={**os.environ, "VERLETLAB_KERNELS": "slow"},
    )  # fmt: skip
    expected = "ValueError: VERLETLAB_KERNELS is 'slow': expected 'quick', 'public', 'plain'"
    assert done.stderr.splitlines()[-1] == expected
