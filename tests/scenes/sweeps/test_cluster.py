"""Sweeps on processes: what is lost and what is not, the same table with any number of workers.

The scene writes each run that is made to a log beside its file, so the tests see which runs are made twice.
"""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="no Dask: pip install 'verletlab[sweep]'")

SCENE = """
import os
import time
from pathlib import Path

import rigid
import scenes


def swing(length: float = 1.0, angle: float = 0.5):
    "A body swings on a hinge."
    with (Path(__file__).parent / "log").open("a") as file:
        file.write(f"{os.getpid()} {length} {angle}\\n")
    time.sleep(SLEEP)
    model = rigid.Model()
    body = model.add_body(mass=1.0, inertia=(0.1, 0.1, 0.1), position=(length, 0, -angle))
    model.add_hinge(rigid.GROUND, body, point=(0, 0, 0), axis=(0, 1, 0))
    return scenes.Scene(model=model, duration=0.5, settings={"impulse": {"dt": 0.01}})
"""
VALUES = ["--param", "length=linspace(1,2,10)", "--param", "angle=linspace(0,1,8)", "--shard", "8"]  # 10 shards


@pytest.fixture
def swing(tmp_path):
    """Write the scene: a function of the time that each run takes to be made [s]; it returns the file."""

    def write(sleep=0.0):
        path = tmp_path / "swing.py"
        path.write_text(SCENE.replace("SLEEP", str(sleep)))
        return path

    return write


def start(path, out, *flags):
    """Start the command in a process group of its own."""
    words = [sys.executable, "-m", "scenes", "sweep", path, *VALUES, "--out", out, *flags]
    environment = {**os.environ, "TI_OPT_LEVEL": "0", "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.Popen(
        [str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        start_new_session=True,
    )  # fmt: skip


def finished(process, status=0):
    """Wait for the command. Returns: output and errors."""
    out, errors = process.communicate(timeout=300)
    assert process.returncode == status, errors
    assert "Traceback" not in errors, errors
    return out, errors


def made(path):
    """How often each run was made, {(length, angle): times}, and the processes that made runs."""
    lines = [line.split() for line in (path.parent / "log").read_text().splitlines()]
    return Counter((length, angle) for _, length, angle in lines), {int(process) for process, _, _ in lines}


def runs(number):
    """Whether a process runs. Args: number: of the process."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition, seconds=120):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited for too long"
        time.sleep(0.05)


def parts(out):
    """Parts of a table that are written."""
    return sorted((out / "parts").glob("[0-9]*.parquet"))


@pytest.mark.slow
def test_one_and_two_workers_write_the_same_table(swing, tmp_path):
    path = swing()
    for jobs in (1, 2):
        out, errors = finished(start(path, tmp_path / str(jobs), "--jobs", str(jobs)))
        assert out.startswith("80 runs\n")
        assert errors == ""
    assert (tmp_path / "1" / "table.parquet").read_bytes() == (tmp_path / "2" / "table.parquet").read_bytes()


@pytest.mark.slow
def test_killed_worker_loses_no_row_and_makes_no_run_twice(swing, tmp_path):
    import pandas

    path = swing(sleep=0.05)
    process = start(path, tmp_path / "out", "--jobs", "2")
    wait_for(lambda: len(parts(tmp_path / "out")) >= 2)
    _, workers = made(path)
    assert len(workers - {process.pid}) == 2
    os.kill(max(workers - {process.pid}), signal.SIGKILL)
    finished(process)
    table = pandas.read_parquet(tmp_path / "out" / "table.parquet")
    assert table["run"].tolist() == list(range(80))
    assert not table["failure"].any()
    assert table["digest"].nunique() == 80
    # The plan makes one scene. Only the shard of 8 runs that the lost worker had begun is made again.
    counts, _ = made(path)
    assert len(counts) == 80
    assert counts.total() <= 80 + 1 + 8
    finished(start(path, tmp_path / "again", "--jobs", "1"))
    again = (tmp_path / "again" / "table.parquet").read_bytes()
    assert (tmp_path / "out" / "table.parquet").read_bytes() == again


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_sweep_goes_on_where_it_was(swing, tmp_path, number):
    path, out = swing(sleep=0.05), tmp_path / "out"
    process = start(path, out, "--jobs", "2")
    wait_for(lambda: len(parts(out)) >= 3)
    # A terminal sends Ctrl-C to all processes. The end of the first one ends the workers.
    os.killpg(process.pid, number) if number == signal.SIGINT else os.kill(process.pid, number)
    _, errors = process.communicate(timeout=60)
    wait_for(lambda: not any(map(runs, made(path)[1])))
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    if number == signal.SIGINT:
        assert errors.count("\n") == 1
        assert "--resume goes on" in errors
    done = len(parts(out))
    assert 3 <= done < 10
    assert not (out / "table.parquet").exists()
    refused = finished(start(path, out), status=2)[1]
    assert "holds this sweep already: expected --resume" in refused
    before = made(path)[0].total()
    finished(start(path, out, "--jobs", "2", "--resume"))
    assert made(path)[0].total() == before + 1 + 8 * (10 - done)
    finished(start(path, tmp_path / "whole", "--jobs", "2"))
    assert (out / "table.parquet").read_bytes() == (tmp_path / "whole" / "table.parquet").read_bytes()


@pytest.mark.slow
def test_run_that_ends_its_process_is_a_row(tmp_path):
    import pandas

    path = tmp_path / "swing.py"
    path.write_text(SCENE.replace("time.sleep(SLEEP)", "length == 2.0 and angle == 1.0 and os._exit(9)"))
    finished(start(path, tmp_path / "out", "--jobs", "2"))
    table = pandas.read_parquet(tmp_path / "out" / "table.parquet")
    assert table["run"].tolist() == list(range(80))
    assert table["failure"].tolist()[:79] == [""] * 79
    assert "the process of the worker ended" in table["failure"].tolist()[79]


@pytest.mark.slow
def test_command_of_the_guide_writes_a_table_and_a_page(tmp_path):
    guide = Path(__file__).parents[3] / "docs" / "guides" / "sweeps.md"
    (command,) = (line for line in guide.read_text().splitlines() if line.startswith("verletlab sweep pendulum"))
    words = [sys.executable, "-m", "scenes", *shlex.split(command)[1:], "--duration", "0.1", "--jobs", "1"]
    environment = {**os.environ, "TI_OPT_LEVEL": "0", "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("10 runs\n")
    assert (tmp_path / "swings" / "table.parquet").stat().st_size > 0
    assert "<svg" in (tmp_path / "swings" / "index.html").read_text()
