"""Vulkan computes what the processor does, or refuses. Skipped without a driver. tests/gpu has more."""

import os
import subprocess
import sys

import numpy as np
import pytest
import taichi as ti
from documents import ROOT
from marks import slow

from pbd.core.kernels import runtime
from pbd.core.kernels.public import storage

PROGRAM = """
import sys
import taichi as ti
ti.init(arch=getattr(ti, sys.argv[1]), default_fp=getattr(ti, sys.argv[2]), log_level=ti.ERROR)
assert ti.cfg.arch.name.startswith(sys.argv[1][:3]) or sys.argv[1] == "cpu", "no device"
import numpy as np
import pbd
if sys.argv[3] == "long":
    rope = pbd.Particles()
    rope.add_particles([(0.2 * k, 0, 0) for k in range(6)])
    rope.add_sticks([(k, k + 1) for k in range(5)])
    rope.pin(0)
    system = pbd.ParticleSystem(rope, dt=1 / 60, iterations=int(sys.argv[4]))
    system.step(60)
    assert (system.position_array().to_numpy()[:, 0, :3] == system.positions()).all()
    print(system.positions().astype(float).tobytes().hex())
    sys.exit()
if sys.argv[3] == "traffic":
    from pbd.core.kernels import TRAFFIC
    cloth = pbd.Particles()
    pbd.build.cloth(cloth, origin=(0, 0, 1), right=(1, 0, 0), down=(0, 1, 0), counts=(20, 20))
    system = pbd.ParticleSystem(cloth, iterations=2)
    system.step()
    TRAFFIC.clear()
    system.step(10)
    print(TRAFFIC.launches, TRAFFIC.to_device, TRAFFIC.to_host)
    sys.exit()
if sys.argv[3] == "large":
    from pbd.core.kernels.public.storage import new_array
    new_array(2**31 - 1, 16, ti.f32)
particles = pbd.Particles()
pbd.build.cloth(particles, origin=(0, 0, 1), right=(0.5, 0, 0), down=(0, 0.5, 0), counts=(6, 6))
particles.pin(0)
system = pbd.ParticleSystem(particles, dt=1 / 60, iterations=5, solve=sys.argv[3], worlds=2)
system.step(12)
print(system.positions().astype(float).tobytes().hex())
"""


def run(*words, **variables):
    """Positions of a cloth that swings on a corner for 0.2 s, or the last line of an error. Args: words; variables."""
    environment = {**os.environ, **variables}
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


@pytest.mark.slow
def test_many_steps_are_right_where_a_driver_ends_loops(on_vulkan):
    # 60 steps of 300 iterations of 5 sticks are 90,000 turns in one launch. Mesa's driver ends loops at 65,535.
    gpu, cpu = (np.frombuffer(bytes.fromhex(run(name, "f32", "long", "300"))) for name in ("vulkan", "cpu"))
    assert np.abs(gpu - cpu).max() < 2e-5


def test_a_substep_of_too_many_turns_is_refused(on_vulkan):
    found = run("vulkan", "f32", "long", "30000")
    if len(found) < 1000:  # the driver ends loops, as Mesa's does
        assert "the driver of the GPU ended a loop" in found


def test_an_array_that_the_driver_refuses_is_an_error_with_its_size(monkeypatch):
    def refuse(*_arguments):
        raise RuntimeError("[gfx_program.cpp:allocate_memory_on_device@51] Assertion failure")

    monkeypatch.setattr(ti, "ndarray", refuse)
    with pytest.raises(MemoryError, match=f"^{ti.cfg.arch.name} gives no array of 2.4 GB: expected fewer particles"):
        storage.new_array(600_000_000, 1, ti.i32)


@pytest.mark.slow
def test_a_driver_that_gives_no_array_is_an_error_with_the_size(on_vulkan):
    assert "MemoryError: vulkan gives no array of 137 GB: expected fewer" in run("vulkan", "f32", "large")


@pytest.mark.slow
def test_positions_stay_on_the_device(on_vulkan):
    launches, to_device, to_host = map(int, run("vulkan", "f32", "traffic").split())
    assert launches > 0
    assert max(to_device, to_host) < launches * 400 * 12  # positions of 32 bits; reports are smaller


def test_devices_that_nobody_has_compared_are_refused(monkeypatch):
    monkeypatch.delenv("VERLETLAB_UNTESTED_DEVICE", raising=False)
    monkeypatch.setattr(runtime, "UNTESTED", (ti.cfg.arch,))
    with pytest.raises(RuntimeError, match="are not shown to be right"):
        runtime.require_taichi()


def test_a_graphics_card_that_is_not_compared_is_said_to_be_so(monkeypatch):
    monkeypatch.setattr(runtime, "on_cpu", lambda: False)
    runtime.warn_of_card.cache_clear()  # it warns once in a program
    with pytest.warns(UserWarning, match="with 64 bits were not compared with the processor's: see docs"):
        runtime.require_taichi()


@pytest.mark.parametrize("icd", [slow("/nonexistent.json"), slow("/usr/share/vulkan/icd.d/radeon_icd.x86_64.json")])
def test_a_driver_that_is_missing_or_has_no_device_leaves_the_processor(icd):
    words = [sys.executable, "-m", "scenes", "run", "box", "--param", "grains=5", "--param", "sticks=2"]
    words += ["--duration", "0.05", "--device", "gpu", "--precision", "32"]
    environment = {**os.environ, "VK_ICD_FILENAMES": icd, "VK_DRIVER_FILES": icd}
    done = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stderr
    if "cuda" in done.stdout or "amdgpu" in done.stdout:
        pytest.skip("a GPU that needs no Vulkan")
    (line,) = done.stderr.splitlines()
    assert line.startswith("verletlab: no GPU found, running on ")


def test_64_bits_are_refused(on_vulkan):
    assert "no sines and powers of 64 bits on vulkan: expected ti.init(default_fp=ti.f32)" in run(
        "vulkan", "f64", "iterative"
    )
