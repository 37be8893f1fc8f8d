"""What ends with Taichi: reset, close, threads, and memory of systems that are dropped."""

import gc
import re
import subprocess
import sys
import threading
from pathlib import Path
from types import FunctionType

import pytest
from marks import slow
from taichi.lang import impl

import pbd
import rigid
from pbd.core.kernels.runtime import CLOSED, GONE

ALLOWED = 5 * 2**20  # growth of memory [bytes]


def rope(count=5):
    """Particles on sticks."""
    particles = pbd.Particles()
    points = particles.add_particles([(0.1 * k, 0, 1) for k in range(count)], mass=0.1)
    for pair in zip(points, points[1:]):
        particles.add_stick(*pair)
    return particles


def pendulum():
    """A body on a hinge."""
    model = rigid.Model()
    body = model.add_body(mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 1))
    model.add_hinge(rigid.GROUND, body, point=(0, 0, 1.5), axis=(0, 1, 0))
    return model


def made():
    """A system, and a solver of each kind."""
    return [pbd.ParticleSystem(rope()), *(rigid.solver(name, pendulum()) for name in rigid.SOLVERS)]


def public(kind):
    """Names of the public methods and properties of a class, without `close`."""
    members = {name: member for base in reversed(kind.__mro__) for name, member in vars(base).items()}
    kinds = FunctionType, property
    return [name for name, member in members.items()
            if isinstance(member, kinds) and not name.startswith("_") and name != "close"]  # fmt: skip


def answers(system):
    """What all public methods and properties of a system say: {message: names}."""
    found = {}
    for name in public(type(system)):
        try:
            value = getattr(system, name)
            if callable(value):
                value()
            message = "nothing"
        except RuntimeError as error:
            message = str(error)
        found.setdefault(message, []).append(name)
    return found


ENDED = """
import sys
import taichi as ti
ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)
ti.cfg.opt_level = 0
sys.path.insert(0, "tests")
from test_processes import GONE, answers, made, pbd, rope
systems = made()
systems[0].step(3)
digest = systems[0].digest()
if sys.argv[1] == "reset":
    ti.reset()
else:
    ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)
for system in systems:
    found = answers(system)
    assert list(found) == [GONE], found
if sys.argv[1] == "reset":
    ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)
ti.cfg.opt_level = 0
again = pbd.ParticleSystem(rope())
del systems, system  # must not free arrays of the new program
others = [pbd.ParticleSystem(rope()) for _ in range(20)]
again.step(3)
assert again.digest() == digest
print("fine")
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", ["reset", "init"])
def test_every_method_says_that_taichi_has_ended(how):
    done = subprocess.run([sys.executable, "-c", ENDED, how], capture_output=True, text=True, check=False)
    assert done.stdout.endswith("fine\n"), done.stderr
    assert done.returncode == 0


def test_system_without_taichi_is_refused_in_one_sentence():
    code = "import pbd; p = pbd.Particles(); p.add_particle((0, 0, 0)); pbd.ParticleSystem(p)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "RuntimeError: Taichi is not initialised: call ti.init" in done.stderr.splitlines()[-1]


def test_closed_systems_say_so():
    for system in made():
        with system:
            assert system.time == 0.0
        assert list(answers(system)) == [CLOSED]
        system.close()


def test_closed_system_frees_its_arrays():
    system = pbd.ParticleSystem(rope())
    array = system.arrays.particles.position
    gc.collect()
    held = sys.getrefcount(array)
    system.close()
    gc.collect()
    assert sys.getrefcount(array) < held


def test_sentences_are_one_line_and_public_methods_many():
    assert "\n" not in GONE + CLOSED
    assert {"step", "state", "set_state", "time", "dt", "energy"} <= set(public(rigid.solver_class("impulse")))
    assert {"step", "positions", "grab", "time", "gravity"} <= set(public(pbd.ParticleSystem))


def test_systems_made_and_stepped_on_several_threads_have_equal_bits():
    def work(number):
        system = pbd.ParticleSystem(rope())
        solver = rigid.solver("impulse", pendulum())
        system.step(5)
        solver.step(5)
        digests[number] = system.digest(), solver.digest()

    digests = {}
    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work("alone")
    assert len(digests) == 9
    assert len(set(digests.values())) == 1


def test_kernels_are_made_once():
    """A system of a kind that was there before makes no kernels, however many kinds there were."""
    for _ in range(2):
        before = len(impl.get_runtime().kernels)
        for grabs in range(20):  # each number of grab springs is a kind of its own
            pbd.ParticleSystem(rope(), grabs=grabs)
    assert len(impl.get_runtime().kernels) == before


DROPPED = """
import gc, sys
import taichi as ti
ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)
sys.path.insert(0, "tests")
from test_processes import pbd, pendulum, resident, rigid, rope
MAKE = {"particles": lambda: pbd.ParticleSystem(rope()), "impulse": lambda: rigid.solver("impulse", pendulum())}
def drop(count):
    for _ in range(count):
        MAKE[sys.argv[1]]()
    gc.collect()
    return resident()
before = drop(50)
print(drop(int(sys.argv[2])) - before)
"""


def resident():
    """Memory of this process [bytes]."""
    found = re.search(r"Rss:\s+(\d+) kB", Path("/proc/self/smaps_rollup").read_text())
    return 1024 * int(found[1])


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="no /proc/self/smaps_rollup on this system")
@pytest.mark.parametrize(("what", "count"), [
    ("particles", 300), slow("particles", 1000), slow("impulse", 1000),
])  # fmt: skip
def test_dropped_systems_leave_nothing(what, count):
    done = subprocess.run([sys.executable, "-c", DROPPED, what, str(count)], capture_output=True, text=True, check=True)
    assert int(done.stdout.splitlines()[-1]) < ALLOWED
