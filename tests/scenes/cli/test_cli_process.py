"""The command line in its own process: streams, Ctrl-C, pipes and terminals."""

import contextlib
import os
import re
import shlex
import signal
import struct
import subprocess
import sys
from pathlib import Path

import imageio.v2 as imageio
import pytest
from marks import slow

from scenes.simulate.interrupts import interrupts_deferred, stop_signals_interrupt
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


def test_a_missing_or_refused_gpu_is_reported_in_one_line():
    words = ["run", "box", *SMALL, "--device", "gpu"]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    assert "[Taichi]" not in done.stdout + done.stderr
    if done.returncode == 1:  # Vulkan in 64 bits, or Metal
        assert "expected ti.init(" in one_line(done.stderr)
    elif "x64" in done.stdout or "arm64" in done.stdout:
        assert one_line(done.stderr).startswith("verletlab: no GPU found, running on ")
    else:
        assert "compared with the processor's" in one_line(done.stderr)


@pytest.mark.slow
def test_an_error_ends_with_its_status_also_when_taichi_would_ask_for_its_newest_version(tmp_path):
    # Taichi notes in its folder when it asked. In a new home it would ask, in a thread that crashed the process's end.
    words = ["run", "box", "--param", "nope=3"]
    for _ in range(3):
        environment = {**os.environ, "HOME": str(tmp_path)}
        done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 2
        assert "has no parameter 'nope'" in one_line(done.stderr)
    assert not list(tmp_path.rglob("version_info"))


def test_a_named_gpu_that_is_missing_is_refused_in_one_line():
    words = ["run", "box", *SMALL, "--device", "cuda", "--precision", "32"]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        pytest.skip("a card with CUDA")
    assert one_line(done.stderr) == "verletlab: no GPU with a driver for cuda is found: expected device 'gpu' or 'cpu'"


@pytest.mark.parametrize("module", [slow("scenes"), "verletlab"])
def test_modules_are_the_command(module):
    done = subprocess.run([sys.executable, "-m", module, "list"], capture_output=True, text=True, check=True)
    assert "aircraft_roll" in done.stdout
    assert done.stderr == ""


@pytest.mark.slow
def test_quiet_prints_nothing():
    done = subprocess.run([*COMMAND, "run", "box", *SMALL, "--quiet"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_warning_is_one_line(tmp_path):
    (tmp_path / "warned.py").write_text("""
import warnings
import pbd
import scenes

def warned():
    warnings.warn("a long fall")
    particles = pbd.Particles()
    particles.add_particle((0, 0, 1))
    return scenes.Scene(particles=particles, duration=0.1)
""")
    words = ["run", str(tmp_path / "warned.py"), "--quiet"]
    done = subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=True)
    assert one_line(done.stderr) == "verletlab: warning: a long fall"


def test_start_imports_no_slow_library():
    # These are imported where they are used: they took a third of the time of `verletlab --help`, and trimesh took an
    # eighth of a short run of any scene, because the names of scenes are sought in all files of the catalogue.
    slow = {"imageio.v2", "matplotlib", "mujoco", "scipy.sparse", "trimesh"}
    code = f"import sys, scenes.cli.main; scenes.available(); print(sorted({slow} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


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
def reporting(frames):
    def report(self, *times):
        for number, frame in enumerate(frames(self, *times), 1):
            yield frame
            print("frame", number, flush=True)
    return report
Run.frames, Run.frames_at = reporting(Run.frames), reporting(Run.frames_at)
sys.exit(cli.main(sys.argv[1:]))
"""


def stopped(tmp_path, suffix, number, after=3, cache="1"):
    """Send a signal to a long run.

    Args: suffix: of the output; number: of the signal; after: how many frames; cache: "0" for none of kernels.

    Returns: path of the output, exit status, what the command wrote to the error stream.
    """
    path, temporary = tmp_path / f"box{suffix}", tmp_path / "temporary"
    temporary.mkdir()
    words = ["run", "box"] if suffix == ".npz" else ["render", "box"]
    words += ["--size", "64x36"] if suffix in (".mp4", ".gif", ".png") else []
    process = subprocess.Popen(
        [sys.executable, "-c", REPORTING, *words, "--duration", "1000" if suffix != ".html" else "20", "--out", path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "TI_OFFLINE_CACHE": cache, "TMPDIR": str(temporary)},
    )  # fmt: skip
    try:
        for _ in range(after):
            assert process.stdout.readline().startswith("frame")
        os.killpg(process.pid, number)
        _, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    if number != signal.SIGKILL:
        assert list(temporary.iterdir()) == []
    return path, process.returncode, errors


@pytest.mark.parametrize(
    ("suffix", "after", "cache", "number"), [
        (".npz", 3, "1", signal.SIGINT),
        *(slow(*case) for case in (
            (".mp4", 3, "1", signal.SIGINT), (".gif", 3, "1", signal.SIGTERM), (".npz", 3, "1", signal.SIGHUP),
            (".gif", 3, "1", signal.SIGINT), (".png", 3, "1", signal.SIGINT), (".mp4", 1, "0", signal.SIGINT),
            (".npz", 1, "0", signal.SIGINT), (".mp4", 3, "1", signal.SIGTERM), (".mp4", 3, "1", signal.SIGHUP),
            (".png", 3, "1", signal.SIGTERM),
        )),
    ],
)  # fmt: skip
def test_ctrl_c_and_signals_keep_finished_frames(tmp_path, suffix, after, cache, number):
    """The signal goes to the process group, as from a terminal; without the cache it arrives during compilation."""
    path, status, errors = stopped(tmp_path, suffix, number, after, cache)
    assert status == 130
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


@pytest.mark.slow
@pytest.mark.parametrize(
    "suffix", [".mp4", *map(slow, (".gif", ".png", ".html", ".npz"))]
)
def test_kill_keeps_the_old_file(tmp_path, suffix):
    path = tmp_path / f"box{suffix}"
    path.write_text("old")
    assert stopped(tmp_path, suffix, signal.SIGKILL)[1] == -signal.SIGKILL
    assert path.read_text() == "old"


def is_whole(path):
    """Whether a file of a comparison is complete, as far as its format says."""
    if path.suffix in (".png", ".mp4"):
        return len(film(path)) > 0
    ends = {".json": "}\n", ".csv": "\n", ".svg": "</svg>\n", ".html": "</html>\n"}
    return path.read_text("utf-8").endswith(ends[path.suffix])


@pytest.mark.slow
@pytest.mark.parametrize("after", ["summary.json", "energy.png", "comparison.mp4"])
def test_killed_comparison_leaves_old_or_whole_files(tmp_path, after):
    """The process is killed when a file has been replaced."""
    words = ["compare", "five_link_chain", "--solvers", "impulse,penalty", "--duration", "0.3", "--quiet", "--force"]
    command = [*COMMAND, *words, "--out", str(tmp_path)]
    subprocess.run(command, check=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert after in names
    for name in names:
        (tmp_path / name).write_text("old")
    process = subprocess.Popen(command)
    try:
        while (tmp_path / after).read_bytes() == b"old":
            assert process.poll() is None
    finally:
        process.kill()
        process.wait()
    assert [name for name in names if not (tmp_path / name).exists()] == []
    for name in names:
        assert (tmp_path / name).read_bytes() == b"old" or is_whole(tmp_path / name), name


def test_ignored_signal_stays_ignored():
    """As with `nohup`."""
    with patched_handler(signal.SIGHUP, signal.SIG_IGN), stop_signals_interrupt():
        signal.raise_signal(signal.SIGHUP)


def test_commands_of_tests_start_with_default_signals():
    code = "import signal; print(*(signal.getsignal(getattr(signal, each)).name for each in ('SIGTERM', 'SIGHUP')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "SIG_DFL SIG_DFL\n"


@pytest.mark.slow
@pytest.mark.parametrize("ignored", ["HUP", "INT TERM HUP"])
def test_signals_that_the_suite_ignores_stop_its_commands(ignored):
    """As in `nohup make test`, and in `trap '' INT; make test &` of a script."""
    tests = ("test_commands_of_tests_start_with_default_signals",
             "test_ctrl_c_and_signals_keep_finished_frames[.npz-3-1-1]",
             "test_ctrl_c_and_signals_keep_finished_frames[.npz-3-1-2]")  # fmt: skip
    command = shlex.join([sys.executable, "-m", "pytest", *(f"{__file__}::{test}" for test in tests)])
    done = subprocess.run(["sh", "-c", f"trap '' {ignored}; {command}"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout


def test_signals_interrupt_within_the_block_alone():
    with patched_handler(signal.SIGTERM, signal.SIG_DFL):
        with pytest.raises(KeyboardInterrupt), stop_signals_interrupt(), interrupts_deferred():  # noqa: PT012
            signal.raise_signal(signal.SIGTERM)
            finished = True
        assert finished
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@contextlib.contextmanager
def patched_handler(number, handler):
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


def test_full_standard_output_is_one_line():
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("no /dev/full on this system")
    with full.open("w") as out:
        done = subprocess.run([*COMMAND, "list"], stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    assert one_line(done.stderr) == "verletlab: standard output: no space left on device"
    assert done.returncode == 1


@pytest.mark.slow
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
    assert "b.mp4: 15 frames of 64 x 36" in lines
    bars = [line for line in lines if line.startswith("render")]
    assert bars
    assert max(map(len, bars)) <= columns
