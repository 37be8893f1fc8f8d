"""The option of LLVM that keeps loops short: for which processors it is given, and that it changes no bit."""

import subprocess
import sys

import pytest

from pbd.core.kernels import KERNELS

if KERNELS != "quick":
    pytest.skip("quick kernels", allow_module_level=True)

from pbd.core.kernels.quick.unrolling import EXPORTED, READ_OPTIONS, addresses_in, has_long_buffer, limit_unrolling

LIBRARY = sys.modules["taichi._lib.core.taichi_python"].__file__
ON_LINUX = sys.platform.startswith("linux")

# A rod that swings, in a process of its own, because LLVM keeps its options.
DIGEST = """
import taichi as ti
ti.init(arch=ti.cpu, default_fp=ti.f64, offline_cache=False)
import pbd
from pbd.core.kernels.quick import unrolling
if ANY: unrolling.has_long_buffer = lambda path: True
particles = pbd.Particles()
particles.add_particles([(0.1 * k, 0, 0) for k in range(9)])
particles.add_sticks([(k, k + 1) for k in range(8)])
particles.pin(0)
system = pbd.ParticleSystem(particles, dt=0.01)
system.step(20)
print(unrolling.limit_unrolling(), system.digest())
"""


def said(text):
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.split()[-2:]


@pytest.mark.slow
@pytest.mark.skipif(not ON_LINUX, reason="Taichi's library for Linux")
def test_results_have_the_same_bits_with_the_option(monkeypatch):
    with_option = said(DIGEST.replace("ANY", "True"))
    monkeypatch.setenv("VERLETLAB_UNROLLING", "taichi")
    without = said(DIGEST.replace("ANY", "True"))
    assert (with_option[0], without[0]) == ("True", "False")
    assert with_option[1] == without[1]


def test_the_processors_are_told_by_their_family(tmp_path):
    def processor(vendor, family):
        path = tmp_path / "cpuinfo"
        path.write_text(f"processor\t: 0\nvendor_id\t: {vendor}\ncpu family\t: {family}\nmodel\t\t: 1\n")
        return has_long_buffer(path)

    assert processor("AuthenticAMD", 25)
    assert not processor("AuthenticAMD", 23)
    assert not processor("GenuineIntel", 25)
    assert not has_long_buffer(tmp_path / "missing")


@pytest.mark.skipif(not ON_LINUX, reason="Taichi's library for Linux")
def test_functions_are_found_by_name_or_not_at_all(tmp_path):
    assert len(addresses_in(LIBRARY, (EXPORTED, READ_OPTIONS))) == 2
    assert addresses_in(LIBRARY, (EXPORTED, b"LLVMReadMyMind")) is None
    text = tmp_path / "text.so"
    text.write_bytes(b"no library " * 20)
    assert addresses_in(text, (EXPORTED,)) is None


def test_other_settings_are_refused(monkeypatch):
    monkeypatch.setenv("VERLETLAB_UNROLLING", "much")
    with pytest.raises(ValueError, match="VERLETLAB_UNROLLING is 'much': expected 'taichi', or nothing"):
        limit_unrolling.__wrapped__()
