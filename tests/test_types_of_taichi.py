"""Types of numbers with which Taichi starts: others than kernels can have are refused in one line."""

import subprocess
import sys
import textwrap

import pytest
from marks import slow

BOTH = """
    import taichi as ti
    ti.init(arch=ti.cpu, log_level=ti.ERROR, {types})
    import pbd, rigid, scenes
    particles, model = pbd.Particles(), rigid.Model()
    particles.add_particles([(0, 0, 1), (1, 0, 1)])
    model.add_box((1, 1, 1), mass=1.0)
    for make in (lambda: pbd.ParticleSystem(particles), lambda: rigid.solver("articulated", model, dt=0.01),
                 lambda: scenes.run(scenes.load("box"), duration=0.1)):
        try:
            make()
        except RuntimeError as error:
            print(error)
        else:
            print("made")
"""


@pytest.mark.parametrize(
    ("types", "says"),
    [
        slow(
            "default_fp=ti.f16",
            "Taichi was initialised with default_fp=ti.f16: expected ti.f64 or ti.f32 in ti.init",
        ),
        ("default_ip=ti.i64", "Taichi was initialised with default_ip=ti.i64: expected ti.i32 in ti.init"),
        slow("default_fp=ti.f64, default_ip=ti.i32", "made"),
    ],
)
def test_types_that_kernels_cannot_have_are_refused_in_one_line(types, says):
    code = textwrap.dedent(BOTH.format(types=types))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout.splitlines()[-3:] == [says] * 3, done.stderr
