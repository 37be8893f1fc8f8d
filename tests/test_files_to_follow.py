"""The documents name the files through which a reader follows a contact impulse."""

import os
import re
import subprocess
import sys

from documents import ROOT

PROGRAM = """
import json, sys
import taichi as ti
sys.path.insert(0, "tests")
import files_to_follow
ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)
print(json.dumps(files_to_follow.files_of_a_contact_impulse()))
"""
MOST = 7


def test_a_contact_impulse_passes_through_the_files_that_the_documents_name():
    # Plain kernels are chosen before the first import, so they run in a process of their own.
    environment = {**os.environ, "VERLETLAB_KERNELS": "plain", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, env=environment, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    found = set(re.findall(r'"([\w/.]+)"', done.stdout.splitlines()[-1]))
    chapter = (ROOT / "docs" / "solvers.md").read_text(encoding="utf-8").split("\n## impulse\n")[1].split("\n## ")[0]
    steps = chapter.split("a contact impulse passes through")[1].split("### ")[0]
    assert set(re.findall(r"^\d+\. \[([\w/.]+)\]", steps, re.MULTILINE)) == found
    assert len(found) <= MOST
