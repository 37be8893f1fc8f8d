"""Children that were forked: a result or an error, never a wait for threads that are not there."""

import multiprocessing
import subprocess
import sys
import textwrap

import pytest
from marks import slow

if "fork" not in multiprocessing.get_all_start_methods():
    pytest.skip("this system has no fork", allow_module_level=True)

START = "ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)"


def printed(before, work):
    """What two forked children print. Args: before: code of their parent; work: code of theirs."""
    code = f"""
    import multiprocessing, os, sys, taichi as ti, pbd, rigid, scenes
    def pair():
        particles = pbd.Particles()
        particles.add_particles([(0, 0, 1), (1, 0, 1)])
        return pbd.ParticleSystem(particles, dt=0.01)
    def fallen(system):
        system.step(10)
        return round(float(system.positions()[0, 2]), 3)
    {before}
    def attempt(_):
        try:
            return {work}
        except RuntimeError as error:
            return f"RuntimeError: {{error}}"
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(*pool.map_async(attempt, range(2)).get(timeout=60), sep="\\n")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-2:]


@pytest.mark.parametrize(
    ("before", "work"),
    [
        (START, "fallen(pair())"),
        slow(f"{START}; system = pair()", "fallen(system)"),
        slow(START, "scenes.load('pendulum') and scenes.run(scenes.load('pendulum'), duration=0.1)"),
        slow(f"{START}; scenes.run(scenes.load('pendulum'), duration=0.1)", "scenes.film(scenes.load('box'), 'x.png')"),
    ],
)
def test_solvers_in_a_child_forked_after_the_start_name_spawn(before, work):
    for line in printed(before, work):
        assert line.startswith("RuntimeError: this process was forked after ti.init")
        assert "start processes by 'spawn', as multiprocessing.get_context('spawn')" in line
        assert len(line) <= 215


FALLEN = "0.951"  # z = 1 - g t²/2 after 0.1 s, which Verlet integrates exactly


@pytest.mark.parametrize(
    ("before", "work"),
    [
        ("pass", f"{START} and None or fallen(pair())"),  # Taichi is imported in the parent, and starts in the child
        slow(f"{START}; fallen(pair())", f"{START} and None or fallen(pair())"),  # it starts anew in the child
    ],
)
def test_children_that_start_taichi_have_results(before, work):
    assert printed(before, work) == [FALLEN, FALLEN]


@pytest.mark.slow
def test_a_forked_child_can_end():
    """Python ends the child in the usual way, without os._exit as in a Pool."""
    code = f"""
    import os, sys, taichi as ti, pbd
    {START}
    particles = pbd.Particles()
    particles.add_particle((0, 0, 1))
    pbd.ParticleSystem(particles, dt=0.01).step(10)
    child = os.fork()
    if not child:
        sys.exit(5)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60)
    assert done.stdout.splitlines()[-1] == "5"
