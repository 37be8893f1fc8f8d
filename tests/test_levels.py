"""Kernels have the same bits at both levels of compilation, see pbd/core/kernels/settings.py."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

PROGRAM = """
import sys
from scenes.simulate.device import initialise
initialise(precision=int(sys.argv[2]), opt_level=int(sys.argv[3]))
import scenes
for name in sys.argv[4:]:
    solver = None if sys.argv[1] == "particles" else sys.argv[1]
    print(name, scenes.run(scenes.load(name), solver, duration=0.2).about["digest"])
"""

SCENES = {
    "particles": ("drape", "figure"),
    "verlet": ("five_link_chain", "ragdoll"),
    "impulse": ("five_link_chain", "ragdoll"),
    "articulated": ("five_link_chain", "ragdoll"),
    "penalty": ("five_link_chain", "ragdoll"),
}


def digests(solver, bits, level):
    """What a process prints that runs scenes of a solver at a level."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, solver, str(bits), str(level), *SCENES[solver]], capture_output=True,
        text=True, check=False, cwd=ROOT, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith(SCENES[solver])]


@pytest.mark.slow
@pytest.mark.parametrize("bits", [64, 32])
@pytest.mark.parametrize("solver", SCENES)
def test_levels_have_the_same_bits(solver, bits):
    cheap, full = digests(solver, bits, 0), digests(solver, bits, 2)
    assert len(cheap) == len(SCENES[solver])
    assert cheap == full
