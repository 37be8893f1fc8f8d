"""Commands that nobody should give, found by hypothesis, in this process: each ends with one clear line.

Nothing runs: a command that is right stops where its run begins. `--fuzz 2000` makes more commands.
"""

import re

import pytest
from fuzzing import fuzz, no_foreign_warnings
from hypothesis import given
from hypothesis import strategies as st

import benchmarks
import rigid
from scenes.cli import main as cli
from scenes.cli import sweep
from scenes.comparison.compare import ComparisonPlan
from scenes.export import export
from scenes.render.film import ENDINGS
from scenes.simulate.run import Run
from scenes.simulate.settings import option_types
from scenes.view import server

SCENES = ("box", "pendulum", "chain", "stack", "newtons_cradle", "five_link_chain", "rope_bridge")  # small ones
COMMANDS = ("list", "run", "render", "view", "compare", "sweep", "bench")
WORDS = (
    "linspace(1,2,3)", "range(1,9,2)", "linspace(1", "range(0,1,0)", "1,linspace(2,3,1e9)", "x(1,2,3)",
    "", " ", "-", "--", "---", "=", "a=", "=1", "a=b=c", "x", "X" * 5000, "two\nlines", "tab\tbed", "é", "💥", "\udcff",
    "%s", "{}", "None", "true", "no", "nan", "inf", "-inf", "1e999", "1e-999", "1e300", "1e-300", "0", "-0",
    "-1", "1", "2", "0.5",
    "1_0", "0x10", "1,2", ",", ",,", "1x1", "0x0", "-1x-1", "x", "99999999x99999999", "1000000000", "9" * 30,
    "9" * 5000, "/", ".", "..", "/dev/null", "/dev/full", "/no/where", "~", "*.npz", "http://x", "verlet/100",
    "impulse/x", "auto",
)  # fmt: skip
NUMBERS = ("nan", "inf", "1e999", "1e300", "1e-300", "0", "-1", "1", "0.001", "0.02", "1e9", "x", "")
WITHOUT_VALUE = ("--no-", "--quiet", "--cost", "--force", "--resume", "--dry-run", "--yes", "--help", "-h")
FLAGS = {name: [*each._option_string_actions, "--wrong", "-x"] for name, each in cli.parser().commands.items()}
PARAMETERS = ("links", "grains", "seed", "count", "balls", "friction", "planks", "lifted", "angle", "wrong", "")
OF_SOLVERS = sorted({name for each in rigid.SOLVERS for name in option_types(each)})
OPTIONS = ("dt", "grabs", "particles", "wrong", *OF_SOLVERS)

# Messages of Python and numpy, which do not say what was expected of a command.
FOREIGN = re.compile(r"Error: |could not convert|object has no|unhashable|got multiple|unexpected keyword")


class Began(KeyboardInterrupt):
    """A command was right, and its run would have begun."""


@pytest.fixture
def nothing_runs(monkeypatch, tmp_path):
    """Stop each command where its run would begin, in an empty folder."""

    def began(*arguments, **options):
        raise Began

    class Viewer:
        def __init__(self, scene, solver, dt, options, host, port, note, origins):
            Run(scene, solver, None, dt, grabs=1, **options)
            raise Began

    monkeypatch.setattr(Run, "frames", began)
    monkeypatch.setattr(ComparisonPlan, "run", began)
    monkeypatch.setattr(benchmarks, "rows", began)
    monkeypatch.setattr(sweep, "execute", began)
    monkeypatch.setattr(sweep, "seconds_of", lambda plan, jobs: 1.0)
    monkeypatch.setattr(server, "Viewer", Viewer)
    monkeypatch.chdir(tmp_path)


word = st.sampled_from(WORDS)
option = st.builds("{}={}".format, st.sampled_from(OPTIONS), word)
solver_option = st.builds("{}.{}".format, st.sampled_from([*rigid.SOLVERS, "wrong"]), option)
parameter = st.builds("{}={}".format, st.sampled_from(PARAMETERS), word)
ending = st.sampled_from([*ENDINGS, *export.ENDINGS, ".npz", ".x"])
out = st.builds("{}{}".format, st.sampled_from(["film", "a/b", "", "x" * 300]), ending)
solvers = st.lists(st.sampled_from([*rigid.SOLVERS, "wrong", ""]), max_size=3).map(",".join)
value = st.one_of(word, option, solver_option, parameter, out, solvers, st.sampled_from(rigid.SOLVERS))
number = st.sampled_from(NUMBERS)
LIKELY = {
    "--param": parameter, "--out": out, "--solvers": solvers, "--solver": st.sampled_from([*rigid.SOLVERS, "wrong"]),
    "--duration": number, "--dt": number, "--fps": number, "--port": number, "--size": word, "--device": st.just("cpu"),
    "--precision": st.sampled_from(["32", "64", "0"]), "--reference": st.one_of(solvers, word),
}  # fmt: skip


def rarely(draw):
    return draw(st.integers(0, 19)) == 7


@st.composite
def commands(draw):
    """Words of a command, most of which are right."""
    command = draw(word) if rarely(draw) else draw(st.sampled_from(COMMANDS))
    words = [command]
    if command == "bench":
        words += draw(st.lists(st.sampled_from([*benchmarks.BENCHMARKS, "wrong", ""]), max_size=2))
    elif not rarely(draw):
        words += [draw(word if rarely(draw) else st.sampled_from(SCENES))]
    if command in ("render", "sweep") and not rarely(draw):
        words += ["--out", draw(out)]
    for _ in range(draw(st.integers(0, 3))):
        flag = draw(st.sampled_from(FLAGS.get(command, ["--help"])))
        likely = {**LIKELY, "--option": solver_option if command == "compare" else option}.get(flag, value)
        words += [flag]
        if flag.startswith(WITHOUT_VALUE) == rarely(draw):
            words += [draw(value if rarely(draw) else likely)]
    return words


def check_command(words, capsys):
    """Run a command: it succeeds, begins to run, or ends with status 2 and one line of at most 200 characters."""
    with no_foreign_warnings():
        try:
            status = cli.main(words)
        except SystemExit as stop:  # after --help
            status = stop.code
    captured = capsys.readouterr()
    assert status in (0, 2, 130), captured.err
    assert "Traceback" not in captured.err
    if status == 2:
        assert captured.out == ""
        assert captured.err.count("\n") == 1, captured.err
        message = captured.err.removeprefix("verletlab: ").rstrip("\n")
        assert message.strip(), words
        assert len(message) <= 200, message
        assert not FOREIGN.search(message), message


def test_wrong_commands_end_with_one_clear_line(nothing_runs, capsys, request):
    count = request.config.getoption("--fuzz")
    fuzz(count, given(commands())(lambda words: check_command(words, capsys)))
