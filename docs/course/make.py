"""Draw the figures of the course, and write its tables into the chapters.

    python docs/course/make.py             # all chapters
    python docs/course/make.py stick rods  # these

A chapter has a page, docs/course/NAME.md, and a module, docs/course/code/NAME.py. Each function `draw_...` of the
module makes a figure, docs/course/figures/NAME_....svg; `table` makes the rows between the two marks of the page.
"""

import importlib.util
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
CHAPTERS = sorted(path.stem for path in (FOLDER / "code").glob("*.py"))
MARKS = "<!-- begin of the table of make.py -->", "<!-- end of the table -->"


def module_of(chapter):
    """The module of a chapter, docs/course/code/NAME.py."""
    spec = importlib.util.spec_from_file_location(f"course_{chapter}", FOLDER / "code" / f"{chapter}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def figures_of(chapter):
    """Functions that draw the figures of a chapter: {path of the file: function}."""
    drawn = {name: value for name, value in vars(module_of(chapter)).items() if name.startswith("draw_")}
    return {FOLDER / "figures" / f"{chapter}_{name[5:]}.svg": draw for name, draw in drawn.items()}


def table_text(head, rows):
    """Lines of a table in Markdown. Args: head: titles; rows: of cells, all text."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def shown_table(page):
    """The table in the text of a page, without its marks."""
    return page.partition(MARKS[0])[2].partition(MARKS[1])[0].strip()


def write_table(chapter):
    """Put the table of a chapter, measured anew, into its page."""
    path = FOLDER / f"{chapter}.md"
    text = "\n\n".join((MARKS[0], table_text(*module_of(chapter).table()), MARKS[1]))
    page = re.sub(f"{MARKS[0]}.*?{MARKS[1]}", lambda found: text, path.read_text("utf-8"), flags=re.DOTALL)
    path.write_text(page, "utf-8")


def main(names):
    """Make figures and tables. Args: names: of chapters; empty for all."""
    from scenes.comparison.report.figure import save, styled
    from scenes.simulate.device import initialise

    unknown = sorted(set(names) - set(CHAPTERS))
    if unknown:
        raise SystemExit(f"{unknown[0]}: expected a chapter, one of {', '.join(CHAPTERS)}")
    initialise("cpu")
    for chapter in names or CHAPTERS:
        for path, draw in figures_of(chapter).items():
            with styled():
                save(draw(), path)
        write_table(chapter)


if __name__ == "__main__":
    sys.path.insert(0, str(FOLDER.parents[1]))
    main(sys.argv[1:])
