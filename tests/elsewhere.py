"""Run a function of a test file in a process of its own, because Taichi is initialised once in a process."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).parent


def run_elsewhere(file, call, precision="f64", **options):
    """Call a function of a test file in another process.

    Args: file: of the test; call: Python text, such as "program(2)"; precision: "f32" or "f64"; options: numbers for
    ti.init. Returns: {text before the colon: text after it} of each line with a colon in what the function returns.
    """
    given = "".join(f", {name}={value}" for name, value in options.items())
    lines = [
        "import sys, taichi as ti",
        f"sys.path[:0] = {[str(TESTS.parent), str(TESTS), str(Path(file).parent)]}",
        f"ti.init(arch=ti.cpu, default_fp=ti.{precision}, log_level=ti.ERROR{given})",
        f"import {Path(file).stem}",
        f"print({Path(file).stem}.{call})",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False, cwd=TESTS.parent,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(line.split(": ") for line in done.stdout.splitlines() if ": " in line and not line.startswith("["))
