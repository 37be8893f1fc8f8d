"""Files are replaced whole or not at all."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from pbd.core.files import naming, replacing


def test_the_end_of_the_block_replaces_the_file(tmp_path):
    path = tmp_path / "a name.with.dots"
    path.write_text("old")
    path.chmod(0o640)
    with replacing(path) as partial:
        assert partial.parent == path.parent
        assert partial.suffix == path.suffix
        partial.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError("words"), MemoryError])
def test_an_error_keeps_the_old_file(tmp_path, stop):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(stop if isinstance(stop, type) else type(stop)), replacing(path) as partial:  # noqa: PT012
        partial.write_text("half")
        raise stop
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "file", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    with replacing(link) as partial:
        partial.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_device_is_written_in_place():
    with replacing(os.devnull) as partial:
        partial.write_text("nothing")
    assert not os.path.isfile(os.devnull)


def test_errors_name_the_file_and_not_its_neighbour(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "none" / "file") as partial:
        partial.write_text("")
    assert caught.value.filename == str(tmp_path / "none" / "file")
    with pytest.raises(OSError, match="space") as caught, naming("file"):  # as np.savez on a full disk
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == "file"
    with pytest.raises(OSError, match="other") as caught, naming("file"):
        raise OSError(errno.ENOENT, "no such file", "other")
    assert caught.value.filename == "other"


KILLED = """
import os, signal, sys
from pbd.core.files import replacing
with replacing(sys.argv[1]) as partial:
    partial.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX")
def test_a_killed_process_keeps_the_old_file(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    left = [each for each in tmp_path.iterdir() if each != path]
    assert [each.name.startswith(".file-") for each in left] == [True]
