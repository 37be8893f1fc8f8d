"""Kernels touch no memory beside their arrays: see tests/fence.py."""

import signal
import subprocess
import sys

import pytest
from documents import ROOT

# Between them: surfaces that tear, segments, hulls, meshes, the direct solve, ragdolls.
PAIRS = [
    "torn_cloth verlet", "tablecloth verlet", "pulley verlet", "ragdoll_stairs verlet", "terrain verlet",
    "terrain impulse",
]  # fmt: skip
FENCE = str(ROOT / "tests" / "fence.py")

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forbids pages of memory as Linux does")


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=ROOT)


@pytest.mark.slow
@pytest.mark.parametrize("pair", PAIRS)
def test_no_kernel_touches_memory_beside_its_arrays(pair):
    digests = set()
    for side in ("before", "behind"):
        done = run("-W", "ignore", FENCE, *pair.split(), side)
        assert done.returncode == 0, f"{side}: signal {-done.returncode}: {done.stderr}"
        digests.add(done.stdout.split()[-1])
    assert len(digests) == 1  # nor do results depend on what lies there


TOUCHES = """
import sys
sys.path[:0] = [".", "tests"]
import fence, taichi as ti
from typing import NamedTuple
ti.init(arch=ti.cpu, log_level=ti.ERROR)
from pbd.core.kernels import Launch, Real, allocate, count, make_kernel
fence.put_fences(sys.argv[1])

class Data(NamedTuple):
    numbers: Real(count.numbers)

@ti.func
def read(s: ti.template(), place: int):
    for _ in range(1):
        s.numbers[0] = s.numbers[place]

data = allocate(Data, numbers=3)
Launch(make_kernel(read, Data), data)(int(sys.argv[2]))
print("read")
"""


@pytest.mark.parametrize(("side", "place", "is_in"), [("before", 2, True), ("before", -1, False), ("behind", 3, False)])
def test_a_kernel_that_reads_beside_an_array_is_caught(side, place, is_in, tmp_path):
    program = tmp_path / "touches.py"  # Taichi reads kernels from files
    program.write_text(TOUCHES)
    done = run(str(program), side, str(place))
    assert done.returncode == (0 if is_in else -signal.SIGSEGV)
    assert ("read" in done.stdout) == is_in
