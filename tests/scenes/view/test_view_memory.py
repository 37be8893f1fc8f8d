"""Memory does not grow while a scene is shown. The clock runs as fast as the scene can be shown."""

import gc
import re
import subprocess
import sys
import time
import tracemalloc
from pathlib import Path

import pytest

pytest.importorskip("viser", reason="no viser: pip install 'verletlab[view]'")

import scenes
from benchmarks.viewer import READER
from scenes.view.server import Viewer
from scenes.view.session import FRAME_RATE

ALLOWED = 20 * 2**20  # in an hour [bytes]
WARM = 22.0  # until the window of the plots is full [s]


@pytest.fixture
def viewer(hanging):
    """A viewer of a cloth that always moves, and an open page."""
    viewer = Viewer(scenes.load("hanging", sway=0.3), port=0)
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(viewer.port)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while not viewer.session.watched:
        viewer.session.update()
        assert reader.poll() is None, reader.stderr.read()
    yield viewer
    viewer.stop()
    output, errors = reader.communicate(timeout=600)
    assert int(output) > 1e5, f"only {output.strip()} bytes were sent {errors}"


def watch(viewer, seconds):
    """Show the scene for some time of its own [s], as fast as possible."""
    session, now = viewer.session, viewer.session.clock()
    end = session.run.system.time + seconds
    while session.run.system.time < end:
        now += 1 / FRAME_RATE
        session.clock = lambda now=now: now
        session.update()
        if round(now * FRAME_RATE) % 10 == 0:
            time.sleep(1e-4)  # lets the server's thread run
    assert session.error == ""


def resident():
    """Memory of this process [bytes]."""
    found = re.search(r"Rss:\s+(\d+) kB", Path("/proc/self/smaps_rollup").read_text())
    return 1024 * int(found[1])


def traced():
    """Memory in use that was allocated since tracing began [bytes]."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.slow
def test_memory_after_some_seconds(viewer):
    tracemalloc.start()
    watch(viewer, WARM)
    before = traced()
    watch(viewer, 10.0)
    grown = traced() - before
    tracemalloc.stop()
    assert grown < ALLOWED / 360


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="no /proc/self/smaps_rollup on this system")
def test_memory_after_ten_minutes(viewer):
    # An hour takes too long on a busy machine. A sixth of it has a sixth of the growth.
    watch(viewer, WARM)
    before = resident()
    watch(viewer, 600.0)
    assert resident() - before < ALLOWED / 6
