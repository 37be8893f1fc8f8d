"""The lock of Taichi's cache: one that a killed process left is removed, another process's is not."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scenes.simulate.device import STALE, remove_stale_lock


@pytest.fixture
def lock(tmp_path, monkeypatch):
    monkeypatch.setenv("TI_OFFLINE_CACHE_FILE_PATH", str(tmp_path))
    return tmp_path / "ticache.lock"


def test_only_an_old_lock_is_removed(lock):
    remove_stale_lock()  # there is none
    lock.touch()
    remove_stale_lock()
    assert lock.exists()
    old = time.time() - 2 * STALE
    os.utime(lock, (old, old))
    remove_stale_lock()
    assert not lock.exists()


@pytest.mark.slow
def test_a_run_uses_the_cache_after_a_process_was_killed(lock):
    lock.touch()
    old = time.time() - 2 * STALE
    os.utime(lock, (old, old))
    words = ["-m", "scenes", "run", "pendulum", "--duration", "0.05", "--quiet"]
    subprocess.run([sys.executable, *words], check=True, cwd=Path(__file__).parents[3])
    assert list(lock.parent.rglob("*.tic"))
    assert not lock.exists()
