"""The documentation site: it builds without a warning, and shows each scene with its picture and its command."""

import importlib
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from documents import DOCUMENTS, ROOT, fences
from PIL import Image

from scenes.cli import main as cli
from scenes.registry import available


def test_each_scene_has_a_picture():
    # A warning, not an error: who adds a scene may leave the picture to `make media`.
    catalogue = [name for name, entry in available().items() if entry.build.__module__.startswith("scenes.catalogue")]
    assert "drape" in catalogue
    missing = [name for name in catalogue if not (ROOT / "media" / f"{name}.png").exists()]
    if missing:
        warnings.warn(f"no picture in media/: run python media/pictures.py {' '.join(missing)}", stacklevel=1)


def test_a_card_shows_what_there_is_of_a_scene():
    pytest.importorskip("sphinx")
    card, entry = extension("gallery").card, available()["box"]
    assert '<img src="b.png" alt="box"' in card("box", entry, {"picture": "b.png", "source": "s.html"})
    film = card("box", entry, {"picture": "b.png", "film": "b.mp4", "replay": "r.html", "source": "s.html"})
    assert 'poster="b.png" src="b.mp4"' in film
    assert '<a href="s.html">source</a> · <a href="r.html">replay</a>' in film
    assert "<img" not in card("box", entry, {"source": "s.html"})


def test_each_scene_is_in_one_topic_of_the_gallery():
    catalogue = [name for name, entry in available().items() if entry.build.__module__.startswith("scenes.catalogue")]
    shown = " ".join(fences(ROOT / "docs" / "gallery.md", "{gallery}")).split()
    assert sorted(shown) == sorted(catalogue)


def test_each_extra_is_in_the_page_about_installation():
    project = (ROOT / "pyproject.toml").read_text("utf-8").partition("[project.optional-dependencies]")[2]
    extras = re.findall(r"^(\w+) = \[", project.partition("[project.scripts]")[0], re.MULTILINE)
    page = (ROOT / "docs" / "install.md").read_text("utf-8")
    assert "docs" in extras
    assert not [extra for extra in extras if f"| `{extra}` |" not in page]


def test_docstrings_become_lists_of_arguments():
    converted = extension("docstrings").converted
    line = "Add a *frame*. Args: array, mask: `x` of a frame; path [m]. Raises: OSError if the disk is full."
    assert converted(line).split("\n\n") == [
        r"Add a \*frame\*.",
        ":Args:\n    * ``array, mask``: ``x`` of a frame\n    * path [m].",
        ":Raises: OSError if the disk is full.",
    ]
    block = "Run.\n\n    import pbd\n\nArgs:\n    a: first\n        line.\n    b: second.\n\nSource: a paper."
    assert converted(block).split("\n\n") == [
        "Run.", "::", "    import pbd", "Source: a paper.", ":Args:\n    * ``a``: first line.\n    * ``b``: second.",
    ]  # fmt: skip


def test_the_site_can_show_all_equations():
    pytest.importorskip("sphinx")
    mathml = extension("equations").mathml
    for path in DOCUMENTS:
        for block in fences(path, "math"):
            assert mathml(block, as_block=True).startswith("<math"), path
    assert "<mo>:=</mo>" in mathml("x := 1")  # two operators would have a gap


def test_the_first_mention_of_a_term_leads_to_its_row_of_the_glossary():
    core, nodes = (pytest.importorskip(f"docutils.{name}") for name in ("core", "nodes"))
    terms = extension("terms")
    rows = "| term | meaning |\n| --- | --- |\n| stick | a rod |\n| *row* | an equation |\n| warp, weft | threads |\n"
    known = terms.terms(rows)
    assert known == {
        "stick": ("a rod", False), "row": ("an equation", True), "warp": ("threads", False), "weft": ("threads", False)
    }  # fmt: skip
    text = 'Warp\n====\n\nA "stick", ``stick``, a/stick.py, rows of sticks, a stick-man, one stick, *rows*, the weft.'
    document = core.publish_doctree(text)
    terms.link_terms(document, known, "glossary.html")
    links = [(node.astext(), node["refuri"].partition("#")[2]) for node in document.findall(nodes.reference)]
    assert links == [("sticks", "term-stick"), ("rows", "term-row"), ("weft", "term-weft")]
    assert document.astext().split() == core.publish_doctree(text).astext().split()


def test_each_term_of_the_glossary_has_one_row():
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs" / "glossary.md").read_text("utf-8"), re.MULTILINE)
    found = [name for row in rows if row not in ("term", "---") for name in row.strip("*").split(", ")]
    assert "row" in found
    assert sorted(found) == sorted(set(found))


def extension(name):
    """A module of docs/extensions."""
    with pytest.MonkeyPatch.context() as patch:
        for folder in (ROOT / "docs", ROOT / "docs" / "extensions"):
            patch.syspath_prepend(str(folder))
        return importlib.import_module(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", available())
def test_shown_command_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    program, *words = extension("gallery").film_command(name)
    assert program == "verletlab"
    assert cli.main([*words, "--duration", "0.05", "--size", "64x36"]) == 0
    assert (tmp_path / f"{name}.mp4").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pendulum", "dzhanibekov", "four_bar", "newtons_cradle", "door"])
def test_picture_is_made_by_the_shown_command(name, tmp_path, monkeypatch):
    # The last bits differ between processors, so the mean of all differences is at most one of 255 levels.
    monkeypatch.chdir(tmp_path)
    assert cli.main(available()[name].picture_command.split()[1:]) == 0
    files = (folder / f"{name}.png" for folder in (tmp_path, ROOT / "media"))
    made, kept = (np.asarray(Image.open(file).convert("RGB"), float) for file in files)
    assert made.shape == kept.shape
    assert np.abs(made - kept).mean() < 1.0


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    # A broken link is a warning: docs/extensions/links.py
    pytest.importorskip("pydata_sphinx_theme")
    command = (sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", ROOT / "docs", tmp_path)
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    gallery = (tmp_path / "gallery.html").read_text("utf-8")
    for name, entry in available().items():
        assert f"{Path(entry.build.__code__.co_filename).relative_to(ROOT).as_posix()}.html" in gallery
        assert f"render {name} --out {name}.mp4" in re.sub("<[^>]*>", "", gallery)


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here"></a><a href="c.html"></a><a href="b.html#there"></a>')
    (tmp_path / "b.html").write_text('<p id="here"></p><a href="https://c.html"></a><img src="a.html?v=1">')
    broken = extension("links").broken_links(tmp_path.resolve())
    assert list(broken) == [("a.html", "b.html#there"), ("a.html", "c.html")]


@pytest.mark.slow
def test_script_writes_films_and_replays_where_the_gallery_finds_them(tmp_path, monkeypatch):
    pytest.importorskip("viser")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    replays = importlib.import_module("replays")
    assert replays.FOLDER == extension("gallery").REPLAYS
    monkeypatch.setattr(replays, "FOLDER", tmp_path)
    replays.main(["pendulum"])
    assert (tmp_path / "pendulum.mp4").stat().st_size > 1000
    assert (tmp_path / "pendulum.html").read_text("utf-8").lstrip().lower().startswith("<!doctype html>")
