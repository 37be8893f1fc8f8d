"""Results on a GPU are those of the processor, as far as round-off in 32 bits tells. Run with `-m gpu`.

`--gpu vulkan` takes this interface of a GPU, not the first that is found.

Each case compiles kernels on both for some seconds to minutes, so its runs answer all questions at once.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from gpu.cases import CASES

PROGRAM = Path(__file__).parent / "cases.py"

# The largest deviation, in parts of that which round-off at the start causes (cases.py). Four samples miss a part of
# the range of what is random.
MARGIN = 3

pytestmark = [pytest.mark.gpu, pytest.mark.slow]


def run(device, case):
    """Run a case in a process of its own. Args: device; case: one of CASES. Returns: see cases.run."""
    # Mesa's software driver then compiles a kernel in half the time.
    environment = {**os.environ, "GALLIVM_PERF": "nopt"}
    words = [sys.executable, str(PROGRAM), device, case]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("case", CASES[::-1])  # bodies take longest, so they start first
def test_a_gpu_computes_what_the_processor_does(case, pytestconfig):
    gpu = run(pytestconfig.getoption("--gpu"), case)
    if not gpu:
        pytest.skip("no GPU, not even in software")
    cpu = run("cpu", case)
    deviation = np.abs(np.subtract(gpu["positions"], cpu["positions"])).max()
    assert deviation <= MARGIN * cpu["spread"]
    assert gpu["digests"][0] == gpu["digests"][1]
