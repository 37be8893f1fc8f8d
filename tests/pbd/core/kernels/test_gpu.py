"""A graphics card is refused, and computes what the processor does where somebody lets it. Skipped without one."""

import os
import subprocess
import sys

import numpy as np
import pytest
from documents import ROOT

PROGRAM = """
import sys
import taichi as ti
ti.init(arch=getattr(ti, sys.argv[1]), default_fp=getattr(ti, sys.argv[2]), log_level=ti.ERROR)
assert ti.cfg.arch.name.startswith(sys.argv[1][:3]) or sys.argv[1] == "cpu", "no device"
import numpy as np
import pbd
particles = pbd.Particles()
pbd.build.cloth(particles, origin=(0, 0, 1), right=(0.5, 0, 0), down=(0, 0.5, 0), counts=(6, 6))
particles.pin(0)
system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=5, solve=sys.argv[3], worlds=2)
system.step(12)
print(system.positions().astype(float).tobytes().hex())
"""


def run(*words, **variables):
    """Positions of a cloth that swings on a corner for 0.2 s, or the last line of an error. Args: words; variables."""
    environment = {**os.environ, "VERLETLAB_UNTESTED_DEVICE": "1", **variables}
    words = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    return done.stdout.splitlines()[-1] if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def on_vulkan():
    found = run("vulkan", "f32", "iterative")
    if "no device" in found or not found:
        pytest.skip("no Vulkan device")
    return found


def test_a_cloth_moves_as_on_the_processor(on_vulkan):
    # Sums have another order: positions of 32 bits near 1 m differ by some of their last bits, 1.2e-7.
    gpu, cpu = (np.frombuffer(bytes.fromhex(each)) for each in (on_vulkan, run("cpu", "f32", "iterative")))
    assert np.abs(gpu - cpu).max() < 2e-6


def test_results_that_nobody_has_compared_are_refused(on_vulkan):
    found = run("vulkan", "f32", "iterative", VERLETLAB_UNTESTED_DEVICE="")
    assert "results on vulkan are not shown to be right: expected ti.init(arch=ti.cpu), or --device cpu" in found


def test_64_bits_are_refused(on_vulkan):
    assert "no sines and powers of 64 bits on vulkan: expected ti.init(default_fp=ti.f32)" in run(
        "vulkan", "f64", "iterative"
    )
