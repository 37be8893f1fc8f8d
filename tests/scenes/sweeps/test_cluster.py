"""Sweeps on processes: what is lost and what is not, the same table with any number of workers.

The scene writes each run that is made to a log beside its file, so the tests see which runs are made twice.
"""

import contextlib
import json
import os
import shlex
import signal
import socket
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
ENVIRONMENT = {**os.environ, "TI_OPT_LEVEL": "0", "PYTHONPATH": str(Path(__file__).parents[3])}
GUIDE = Path(__file__).parents[3] / "docs" / "guides" / "sweeps.md"
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
    return started("scenes", "sweep", path, *VALUES, "--out", out, *flags)


def started(module, *words, **pipes):
    """Start a module of Python with words in a process group of its own. Args: pipes: of Popen, besides its output."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | pipes
    words = [sys.executable, "-m", module, *map(str, words)]
    return subprocess.Popen(words, text=True, env=ENVIRONMENT, start_new_session=True, **pipes)


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


@pytest.fixture
def used_port():
    """Use the port that Dask would take, as another sweep on this machine would."""
    with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", 8787)):
        yield
        return
    yield  # something uses it already


@pytest.mark.slow
def test_one_and_two_workers_write_the_same_table(swing, tmp_path, used_port):
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
    command = next(line for line in GUIDE.read_text().splitlines() if line.startswith("verletlab sweep pendulum"))
    words = [sys.executable, "-m", "scenes", *shlex.split(command)[1:], "--duration", "0.1", "--jobs", "1"]
    done = subprocess.run(words, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("10 runs\n")
    assert (tmp_path / "swings" / "table.parquet").stat().st_size > 0
    assert "<svg" in (tmp_path / "swings" / "index.html").read_text()


# A scheduler that runs somewhere, and its workers -------------------------------------------------------------------


@pytest.fixture
def dask(tmp_path):
    """Start a scheduler and two workers on this machine, as on a cluster. Yields: its address and the workers."""
    file, silent = tmp_path / "scheduler.json", {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    local = ["--host", "127.0.0.1", "--no-dashboard"]
    processes = [started("dask", "scheduler", *local, "--port", "0", "--scheduler-file", file, **silent)]
    wait_for(file.exists)
    address = json.loads(file.read_text())["address"]
    workers = [started("dask", "worker", address, *local, "--nthreads", "1", **silent) for _ in range(2)]
    yield address, workers
    for process in [*workers, *processes]:
        if process.poll() is None:  # a test may have killed it
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.slow
def test_lost_machine_of_a_cluster_loses_no_row(swing, tmp_path, dask):
    import pandas

    address, machines = dask
    path, out = swing(sleep=0.05), tmp_path / "out"
    process = start(path, out, "--scheduler", address)
    wait_for(lambda: len(parts(out)) >= 2 and len(made(path)[1] - {process.pid}) == 2)
    os.killpg(machines[0].pid, signal.SIGKILL)  # the worker, and the process that would start it again
    machines[0].wait()
    finished(process)
    table = pandas.read_parquet(out / "table.parquet")
    assert table["run"].tolist() == list(range(80))
    assert not table["failure"].any()
    # The plan makes one scene, and the lost worker had begun one shard of 8 runs.
    counts, _ = made(path)
    assert len(counts) == 80
    assert counts.total() <= 80 + 1 + 8
    # The scheduler goes on with the worker that is left, and a local cluster writes the same table.
    finished(start(path, tmp_path / "again", "--scheduler", address))
    finished(start(path, tmp_path / "local", "--jobs", "1"))
    whole = (out / "table.parquet").read_bytes()
    assert whole == (tmp_path / "again" / "table.parquet").read_bytes()
    assert whole == (tmp_path / "local" / "table.parquet").read_bytes()


SBATCH = """#!/bin/sh
# A stand-in: it starts the job at once on this machine. SLURM keeps the script, too, which its caller removes.
cp "$1" "$0.$$"
setsid sh "$0.$$" >/dev/null 2>&1 &
echo "Submitted batch job $!"
"""
SCANCEL = """#!/bin/sh
kill -- "-$1"
"""


@pytest.mark.slow
def test_recipe_for_slurm_runs_a_sweep_on_its_jobs(swing, tmp_path, monkeypatch):
    # There is no SLURM here. The job scripts that the recipe submits run as they are, by a stand-in for sbatch.
    pytest.importorskip("dask_jobqueue")
    for name, text in (("sbatch", SBATCH), ("scancel", SCANCEL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setitem(ENVIRONMENT, "PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (recipe,) = (block for block in GUIDE.read_text().split("```") if "SLURMCluster(" in block)
    (tmp_path / "recipe.py").write_text(recipe.removeprefix("py\n").replace("jobs=64", "jobs=2"))
    monkeypatch.setitem(ENVIRONMENT, "PYTHONPATH", f"{ENVIRONMENT['PYTHONPATH']}{os.pathsep}{tmp_path}")
    cluster = started("recipe", stdin=subprocess.PIPE)
    address = cluster.stdout.readline().strip()
    assert address.startswith("tcp://")
    path = swing()
    out, _ = finished(start(path, tmp_path / "out", "--scheduler", address))
    assert out.startswith("80 runs\n")
    scripts = [each.read_text() for each in tmp_path.glob("sbatch.*")]
    assert len(scripts) == 2
    assert all("#SBATCH -p normal" in text and "--nthreads 1" in text for text in scripts)
    _, workers = made(path)
    cluster.communicate("\n", timeout=60)  # Enter
    assert cluster.returncode == 0
    wait_for(lambda: not any(map(runs, workers)))
    finished(start(path, tmp_path / "local", "--jobs", "1"))
    assert (tmp_path / "out" / "table.parquet").read_bytes() == (tmp_path / "local" / "table.parquet").read_bytes()
