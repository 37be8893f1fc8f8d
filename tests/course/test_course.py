"""The course: each chapter has its parts, its figures and tables are made by docs/course/make.py, and it cites well.

The code of each chapter is compared with a solver in a file of its own here. tests/test_documents.py runs the examples
and looks for functions behind links.
"""

import re

import pytest
from chapters import FOLDER, make
from documents import runs

from scenes.comparison.report.figure import styled

DOI = r"10\.\d{4,9}/\S+"
ARXIV = r"(\d{4}\.\d{4,5}|[a-z-]+/\d{7})(v\d+)?"
PARTS = ("The same in verletlab", "Step through it", "Measured", "Exercises", "Sources")


def page(chapter):
    """Text of a chapter."""
    return (FOLDER / f"{chapter}.md").read_text("utf-8")


def test_each_chapter_is_in_the_list_of_contents():
    contents = (FOLDER / "index.md").read_text("utf-8")
    listed = re.search(r"```{toctree}\n(?::.*\n)*\n?((?:\w+\n)+)```", contents)[1].split()
    assert sorted(listed) == make.CHAPTERS
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == sorted(["index", *make.CHAPTERS])


@pytest.mark.parametrize("chapter", make.CHAPTERS)
def test_chapter_has_its_parts(chapter):
    text = page(chapter)
    lines = [line for line in text.splitlines() if not re.match(r"\[\S+\]: ", line)]  # without places of links
    assert 120 <= len(lines) <= 200
    titles = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert titles[-len(PARTS) :] == list(PARTS)
    shown = re.findall(r"```{literalinclude} (.*)\n(?::.*\n)*:pyobject: (\w+)", text)
    assert {file for file, _ in shown} == {f"code/{chapter}.py"}
    exercises = text.partition("## Exercises")[2].partition("## Sources")[0]
    assert re.findall(r"^(\d)\. \*\*(.*?)\.\*\*", exercises, re.MULTILINE) == [
        ("1", "On paper"), ("2", "Code"), ("3", "Experiment")
    ]  # fmt: skip
    assert exercises.count(":::{dropdown} Solution") == 3
    assert f"`python docs/course/make.py {chapter}`" in text


@pytest.mark.parametrize("chapter", make.CHAPTERS)
def test_figures_are_drawn_by_code_and_shown(chapter):
    drawn = make.figures_of(chapter)
    assert drawn
    shown = {part.attrs["src"] for run in runs(FOLDER / f"{chapter}.md") for part in run if part.type == "image"}
    assert {f"figures/{path.name}" for path in drawn} == shown
    assert set(drawn) == set((FOLDER / "figures").glob(f"{chapter}_*.svg"))
    assert all(path.stat().st_size < 2e5 for path in drawn)


@pytest.mark.slow
@pytest.mark.parametrize("chapter", make.CHAPTERS)
def test_figures_can_be_drawn_again(chapter):
    for draw in make.figures_of(chapter).values():
        with styled():
            assert draw().axes


@pytest.mark.slow
@pytest.mark.parametrize("chapter", make.CHAPTERS)
def test_table_is_what_the_code_measures(chapter):
    assert make.shown_table(page(chapter)) == make.table_text(*make.module_of(chapter).table())


@pytest.mark.parametrize("chapter", make.CHAPTERS)
def test_sources_have_identifiers_of_the_right_form(chapter):
    text = page(chapter)
    for host, form in (("doi.org", DOI), ("arxiv.org", rf"(abs|pdf)/{ARXIV}")):
        for address in re.findall(rf"https://{host}/(\S*[^\s.,;)])", text):
            assert re.fullmatch(form, address), address
    assert "https://doi.org/" in text
