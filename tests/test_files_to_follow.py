"""The documents name the files through which a reader follows a contact impulse, a stick and a hinge."""

import json
import os
import re
import subprocess
import sys
from functools import cache

import pytest
from documents import ROOT

PROGRAM = """
import json, sys
import taichi as ti
sys.path.insert(0, "tests")
import files_to_follow
ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)
print(json.dumps(files_to_follow.followed()))
"""


@cache
def followed():
    """What a reader follows, and through which files: {name: files}.

    Plain kernels are chosen before the first import, so they run in a process of their own.
    """
    environment = {**os.environ, "VERLETLAB_KERNELS": "plain", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, env=environment, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def named(page, begin, end):
    """Files that a page of docs/solvers names between two texts."""
    text = (ROOT / "docs" / "solvers" / f"{page}.md").read_text(encoding="utf-8")
    return set(re.findall(r"\[((?:pbd|rigid)/[\w/.]+)\]", text.split(begin)[1].split(end)[0]))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "page", "begin", "end", "most"),
    [
        ("a contact impulse", "impulse", "a contact impulse passes through", "`test_", 7),
        ("a stick", "particles", "A stick of a particle system passes through", "`test_", 7),
        ("a hinge", "verlet", "A hinge of", "`test_", 15),
    ],
    ids=["contact", "stick", "hinge"],
)
def test_what_is_followed_passes_through_the_files_that_the_documents_name(name, page, begin, end, most):
    found = set(followed()[name])
    assert named(page, begin, end) == found
    assert len(found) <= most
