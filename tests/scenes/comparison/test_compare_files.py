"""`verletlab compare` from end to end: its output and all files."""

import csv
import json
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from importlib.util import find_spec

import imageio.v2 as imageio
import matplotlib.image
import numpy as np
import pytest

import scenes
from scenes.cli.compare import check_directory
from scenes.comparison.tuning import WITHIN
from scenes.simulate.run import Run

LINKS = "src", "href", "poster"
FILMS = "comparison", "ghosts"


class Links(HTMLParser):
    """Links of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found |= {value for name, value in attributes if name in LINKS and not value.startswith("#")}


def check_files(folder, labels):
    """Load every file of a comparison. Args: folder; labels: of its traces. Returns: content of summary.json."""
    files = {path.name for path in folder.iterdir()}
    plots = {name for name in files if name.endswith(".png")} - {f"{film}.png" for film in FILMS}
    assert {"summary.json", "summary.csv", "index.html"} | {f"{film}.png" for film in FILMS} <= files
    assert ("replay.html" in files) == (find_spec("viser") is not None)
    assert {"energy.png", "drift.png", "joints.png", "deviation.png", "work.png"} <= plots
    assert files >= {name.replace(".png", ".svg") for name in plots}
    for name in plots:
        assert matplotlib.image.imread(folder / name).std() > 0.02
        assert ElementTree.parse(folder / name.replace(".png", ".svg")).getroot().tag.endswith("svg")
    summary = json.loads((folder / "summary.json").read_text("utf-8"))
    assert [trace["label"] for trace in summary["traces"]] == labels
    with (folder / "summary.csv").open(newline="", encoding="utf-8") as file:
        assert [row["label"] for row in csv.DictReader(file)] == [row["label"] for row in summary["rows"]]
    for film in FILMS:
        assert matplotlib.image.imread(folder / f"{film}.png").std() > 0.02
        with imageio.get_reader(folder / f"{film}.mp4") as reader:
            pictures = [np.asarray(picture) for picture in reader]
        assert len(pictures) > 1
        assert pictures[0].std() > 5
    page = (folder / "index.html").read_text("utf-8")
    linked = {link for link in Links(page).found if not link.startswith("data:")}
    assert linked <= files  # nothing from a network
    assert linked >= files - {"index.html"}
    for label in labels:
        assert label in page
    return summary


@pytest.mark.slow
def test_chain_from_end_to_end(command, tmp_path):
    folder = tmp_path / "new" / "chain"
    status, output, errors = command(
        "compare", "five_link_chain", "--duration", 0.2, "--reference", "impulse/100", "--cost", "--out", folder
    )
    assert (status, errors) == (0, "")
    labels = ["impulse/100", "verlet", "impulse", "articulated", "penalty"]
    summary = check_files(folder, labels)
    assert (folder / "cost.png").exists()
    assert output.splitlines()[0] == "five_link_chain against impulse/100"
    assert output.splitlines()[-1] == str(folder / "index.html")
    assert max(map(len, output.splitlines()[:-1])) <= 80
    for trace in summary["traces"][1:]:
        alone = scenes.run(scenes.load("five_link_chain"), trace["solver"], duration=0.2)
        assert trace["digest"] == alone.about["digest"]
        assert trace["digest"][:13] in output
        assert trace["times"] == alone.times.tolist()
        for k, name in enumerate(("kinetic", "potential", "total")):
            assert trace["series"][name] == alone.energy[:, k].tolist()
        for name in ("iterations", "residual", "contacts"):
            assert trace["series"][name][-1] == alone.about["last_step"][name]
    assert set(summary["cost"]) == set(labels[1:])
    # A directory that is not empty is refused.
    status, output, errors = command("compare", "five_link_chain", "--out", folder)
    assert (status, output) == (2, "")
    assert errors.count("\n") == 1
    assert "the directory is not empty: expected another --out, or --force" in errors


@pytest.mark.slow
def test_ragdoll_from_end_to_end(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ["compare", "ragdoll", "--solvers", "verlet,impulse", "--duration", 0.1, "--probe", "angle", "--quiet"]
    assert command(*words) == (0, "", "")
    folder = tmp_path / "compare-ragdoll"
    summary = check_files(folder, ["verlet", "impulse"])
    running = Run(scenes.load("ragdoll"), "impulse", duration=0.1)
    running.step(running.steps)
    assert summary["traces"][1]["digest"] == running.system.digest()
    assert summary["traces"][1]["series"]["residual"][-1] == running.system.statistics().residual
    assert list(summary["traces"][1]["deviation"]) == ["angle"]
    (folder / "own.txt").write_text("mine")
    assert command(*words, "--no-films", "--force", "--param", "height=2") == (0, "", "")
    again = json.loads((folder / "summary.json").read_text("utf-8"))
    assert again["parameters"]["height"] == 2
    assert (folder / "own.txt").read_text() == "mine"


@pytest.mark.slow
def test_unsupported_and_failed_solvers_are_reported(command, leap, tmp_path):
    status, output, errors = command("compare", leap, "--solvers", "verlet,penalty", "--reference", "verlet", "--out",
                                      tmp_path / "a", "--no-films", "--duration", 0.3)  # fmt: skip
    assert (status, errors) == (0, "")
    assert "penalty cannot run the scene: solver 'penalty' cannot run scene leap" in " ".join(output.split())
    status, output, errors = command("compare", leap, "--out", tmp_path / "b", "--no-films")
    assert (status, errors) == (0, "")
    text = " ".join(output.split())
    assert "verlet failed: particle 0 (world 0) stopped being finite in step 31, at 0.516667 s" in text
    assert "impulse, articulated, penalty cannot run the scene: it moves bodies only, and" in text
    row = json.loads((tmp_path / "b" / "summary.json").read_text())["rows"][0]
    assert row["failure"].startswith("particle 0")


@pytest.mark.slow
def test_ctrl_c_keeps_finished_runs(command, tmp_path, monkeypatch):
    frames, words = Run.frames, ["compare", "five_link_chain", "--duration", 0.1, "--out", tmp_path / "chain"]

    def stopped(self):
        if self.solver == stopping:
            raise KeyboardInterrupt
        return frames(self)

    monkeypatch.setattr(Run, "frames", stopped)
    stopping = "impulse"
    assert command(*words) == (130, "", "verletlab: stopped\n")
    assert not (tmp_path / "chain").exists()
    stopping = "articulated"
    assert command(*words) == (130, "", f"verletlab: stopped; {tmp_path / 'chain'} holds 2 of 4 runs\n")
    rows = json.loads((tmp_path / "chain" / "summary.json").read_text())["rows"]
    assert [row["label"] for row in rows] == ["impulse", "verlet"]
    assert rows[1]["deviation position"] > 0
    assert (tmp_path / "chain" / "index.html").exists()


def test_wrong_directories_are_refused(tmp_path, monkeypatch):
    check_directory(tmp_path)  # empty
    check_directory(tmp_path / "not" / "yet")
    (tmp_path / "file").write_text("text")
    with pytest.raises(FileExistsError, match="the directory is not empty"):
        check_directory(tmp_path)
    check_directory(tmp_path, force=True)
    with pytest.raises(NotADirectoryError, match=re.escape(f"{tmp_path / 'file'} is a file")):
        check_directory(tmp_path / "file" / "a", force=True)
    monkeypatch.setattr("os.access", lambda path, mode: False)
    with pytest.raises(PermissionError, match=re.escape(f"the directory {tmp_path} is not writable")):
        check_directory(tmp_path / "not" / "yet")


@pytest.mark.benchmark
def test_equal_time_is_equal_within_a_tenth():
    found = scenes.compare("five_link_chain", equal="time", duration=1.0)
    spent = {trace.label: trace.about["seconds_per_second"] for trace in found.traces}
    assert min(spent.values()) > (1 - WITHIN) * max(spent.values()), spent
