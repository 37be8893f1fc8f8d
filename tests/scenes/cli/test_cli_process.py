"""The command line in its own process: streams, Ctrl-C, pipes and terminals."""

import os
import re
import signal
import struct
import subprocess
import sys

import imageio.v2 as imageio
import pytest

from scenes.simulate.recording import Recording

SMALL = ["--param", "grains=5", "--param", "sticks=2", "--duration", "0.1"]
COMMAND = [sys.executable, "-m", "scenes"]


def one_line(text):
    """Check that a text is one line, and return it."""
    assert text.count("\n") == 1
    assert text.endswith("\n")
    return text[:-1]


@pytest.fixture(autouse=True)
def compiled_as_in_the_suite(monkeypatch):
    """Let processes compile with the options of tests/conftest.py."""
    monkeypatch.setenv("TI_OPT_LEVEL", "0")


def film(path):
    """Read the frames of a film."""
    with imageio.get_reader(path) as reader:
        return [frame[..., :3] for frame in reader]


def test_missing_gpu_is_reported_in_one_line():
    words = ["run", "box", *SMALL, "--device", "gpu"]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True)
    assert "Taichi" not in done.stdout + done.stderr
    if "x64" in done.stdout or "arm64" in done.stdout:
        assert one_line(done.stderr).startswith("verletlab: no GPU found, running on ")
    else:
        assert done.stderr == ""


def test_quiet_prints_nothing():
    done = subprocess.run([*COMMAND, "run", "box", *SMALL, "--quiet"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_closed_pipe_ends_without_an_error_message():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*COMMAND, "list"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 1


# Prints the number of each frame that is done.
REPORTING = """
import sys
from scenes import Run
from scenes.cli import main as cli
frames = Run.frames
def reporting(self):
    for number, frame in enumerate(frames(self), 1):
        yield frame
        print("frame", number, flush=True)
Run.frames = reporting
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("suffix", "after", "cache"), [(".mp4", 3, "1"), pytest.param(".gif", 3, "1", marks=pytest.mark.slow),
                                   pytest.param(".png", 3, "1", marks=pytest.mark.slow), (".npz", 3, "1"),
                                   pytest.param(".mp4", 1, "0", marks=pytest.mark.slow),
                                   pytest.param(".npz", 1, "0", marks=pytest.mark.slow)],
)  # fmt: skip
def test_ctrl_c_keeps_finished_frames(tmp_path, suffix, after, cache):
    """The signal goes to the process group, as from a terminal; without the cache it arrives during compilation."""
    path = tmp_path / f"box{suffix}"
    words = ["run", "box"] if suffix == ".npz" else ["render", "box", "--size", "64x36"]
    process = subprocess.Popen(
        [sys.executable, "-c", REPORTING, *words, "--duration", "1000", "--out", path], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True, env={**os.environ, "TI_OFFLINE_CACHE": cache},
    )  # fmt: skip
    try:
        for _ in range(after):
            assert process.stdout.readline().startswith("frame")
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    match = re.fullmatch(rf"verletlab: stopped; {path} holds the (\d+) frames? before it", one_line(errors))
    count = int(match[1])
    if suffix == ".png":
        assert count == 1
        assert imageio.imread(path).shape == (36, 64, 3)
        return
    assert count >= after
    if suffix == ".npz":
        assert len(Recording.load(path)) == count
    else:
        assert len(film(path)) == count


def test_progress_fits_a_narrow_terminal(tmp_path):
    fcntl, pty, termios = (pytest.importorskip(name) for name in ("fcntl", "pty", "termios"))
    columns = 20
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm"}
        environment.pop("COLUMNS", None)
        os.chdir(tmp_path)
        words = ["render", "box", "--duration", "0.5", "--size", "64x36", "--out", "b.mp4"]
        os.execve(sys.executable, [*COMMAND, *words], environment)
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # Linux raises this at the end
            part = b""
        if not part:
            break
        shown += part
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    lines = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode()))
    assert "b.mp4: 16 frames of 64 x 36" in lines
    bars = [line for line in lines if line.startswith("render")]
    assert bars
    assert max(map(len, bars)) <= columns
