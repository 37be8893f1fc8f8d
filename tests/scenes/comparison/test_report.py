"""Report of a comparison: plots show its numbers, and the page names and links everything."""

import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from types import SimpleNamespace

import imageio.v2 as imageio
import numpy as np
import pytest
from sample_recordings import STEP, comparison_of, trace_of

from scenes.comparison import report
from scenes.comparison.report import figure, page, plots
from scenes.visuals.colours import MORE, REFERENCE, SOLVERS, colours_of, rgb

LETTERS = "{http://www.w3.org/2000/svg}text"


def drawn(axis):
    """Lines of an axis: {label: (times, values, colour)}."""
    lines = [line for line in axis.lines if not line.get_label().startswith("_")]
    return {line.get_label(): (*line.get_data(), line.get_color()) for line in lines}


def crosses(axis):
    """Crosses of an axis: (x, y, colour) each."""
    return [(*np.ravel(line.get_data()), line.get_color()) for line in axis.lines if line.get_marker() == "x"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A written report without films: text of the page, its links, directory, comparison, paths."""
    directory = tmp_path_factory.mktemp("comparison")
    for name in ("comparison.mp4", "comparison.png", "ghosts.mp4", "ghosts.png", "replay.html"):
        (directory / name).write_bytes(b"")
    comparison = comparison_of()
    paths = comparison.save(directory, films=False, command="verletlab compare sliding --out 'a b'")
    text = (directory / "index.html").read_text("utf-8")
    return SimpleNamespace(text=text, found=Links(text), directory=directory, comparison=comparison, paths=paths)


# Solvers with a line in each plot. Penetration is always zero, and there are no sticks: these plots do not exist.
SHOWN = {
    "energy": {"impulse", "verlet", "penalty"},
    "drift": {"impulse", "verlet", "penalty"},
    "momentum": {"impulse", "verlet", "penalty"},
    "joints": {"impulse", "verlet"},  # penalty has no gap
    "work": {"impulse", "verlet", "penalty"},
    "deviation": {"verlet", "penalty"},  # the reference does not deviate from itself
    "cost": {"impulse", "verlet"},
}


def test_every_plot_is_written_as_png_and_svg(written):
    made = {path.name for path in written.paths if path.suffix in (".png", ".svg")}
    assert made == {f"{name}{suffix}" for name in SHOWN for suffix in (".png", ".svg")}
    for name, shown in SHOWN.items():
        picture = imageio.imread(written.directory / f"{name}.png")
        assert picture.shape[1] > 1000
        assert len({tuple(pixel) for pixel in picture[::3, ::3].reshape(-1, picture.shape[2])}) > 20
        words = {text.text for text in ElementTree.parse(written.directory / f"{name}.svg").iter(LETTERS)}
        assert words & {"impulse", "verlet", "penalty", "articulated"} == shown


def test_plots_are_reproducible(written, tmp_path):
    for suffix in (".png", ".svg"):
        drift = plots.series_figure(comparison_of(), plots.PLOTS["drift"])
        path = plots.save(drift, tmp_path / f"drift{suffix}")
        assert path.read_bytes() == (written.directory / path.name).read_bytes()


def test_lines_have_the_values_of_the_comparison():
    comparison = comparison_of()
    drawing = plots.series_figure(comparison, plots.PLOTS["energy"])
    assert len(drawing.axes) == 3
    for axis, name in zip(drawing.axes, ("kinetic", "potential", "total")):
        found = drawn(axis)
        assert list(found) == ["impulse", "verlet", "penalty"]
        for trace in comparison.traces:
            times, values, colour = found[trace.label]
            assert np.array_equal(times, trace.times)
            assert np.array_equal(values, trace.series[name])
            assert colour == SOLVERS[trace.solver]
        # Only penalty ends early, with a cross.
        assert [cross[2] for cross in crosses(axis)] == [SOLVERS["penalty"]]
        assert crosses(axis)[0][0] == pytest.approx(0.5)


def test_vectors_are_drawn_as_magnitudes():
    drawing = plots.series_figure(comparison_of(), plots.PLOTS["momentum"])
    (axis,) = drawing.axes  # angular momentum is always zero
    times, values, _ = drawn(axis)["impulse"]
    assert values == pytest.approx(5 * times)


def test_values_over_decades_have_a_logarithmic_axis():
    drawing = plots.series_figure(comparison_of(), plots.PLOTS["joints"])
    (axis,) = drawing.axes
    low, high = axis.get_ylim()
    assert axis.get_yscale() == "log"
    assert low < 1e-9 < 1e-3 < high
    (axis,) = plots.series_figure(comparison_of(), plots.PLOTS["drift"]).axes
    assert axis.get_yscale() == "linear"


def test_diverged_run_does_not_flatten_the_others():
    comparison = comparison_of()
    kinetic = comparison.traces[2].series["kinetic"]
    kinetic[-1] = 1e12
    axis = plots.series_figure(comparison, plots.PLOTS["energy"]).axes[0]
    assert axis.get_ylim()[1] < 6  # the others reach 5 J
    assert crosses(axis)[0][:2] == pytest.approx((0.4, 2.0))  # where the line leaves the axes: 5 t at 0.4 s


def test_earlier_lines_are_wider():
    (axis,) = plots.series_figure(comparison_of(), plots.PLOTS["drift"]).axes
    widths = [line.get_linewidth() for line in axis.lines if not line.get_label().startswith("_")]
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == len(widths)


def test_deviation_plot_marks_when_runs_exceed_the_tolerance(tmp_path):
    comparison = comparison_of()
    drawing = plots.deviation_figure(comparison, tolerance=0.22)
    (axis,) = drawing.axes
    found = drawn(axis)
    assert set(found) == {"verlet", "penalty"}
    assert np.nanmax(np.abs(found["verlet"][1] - 0.5 * found["verlet"][0])) < 1e-15
    # verlet is at 0.5 t and exceeds 0.22 from frame 5 on; penalty is at t, from frame 3 on.
    rings = {line.get_color(): line.get_xdata()[0] for line in axis.lines if line.get_marker() == "o"}
    assert rings == {SOLVERS["verlet"]: pytest.approx(5 * STEP), SOLVERS["penalty"]: pytest.approx(3 * STEP)}
    words = [text.get_text() for text in axis.texts]
    assert any("0.22" in word for word in words)
    assert "0.5 s" in words
    assert "position [m]" in axis.get_title(loc="left")
    assert report.plot_deviation(comparison, tmp_path / "failing.png", tolerance=0.22).stat().st_size > 0
    assert imageio.imread(tmp_path / "failing.png").shape[1] > 1000


def test_plot_without_deviation_is_refused(tmp_path):
    comparison = comparison_of()
    comparison.traces = comparison.traces[:1]
    with pytest.raises(ValueError, match="no deviation"):
        report.plot_deviation(comparison, tmp_path / "none.png")
    with pytest.raises(ValueError, match="no deviation"):
        report.plot_deviation(comparison_of(), tmp_path / "none.png", probes=["angle"])


def test_cost_plot_has_a_line_for_each_setting():
    (axis,) = plots.cost_figure(comparison_of()).axes
    found = {label: (list(x), list(y)) for label, (x, y, _) in drawn(axis).items()}
    assert found == {
        "impulse, substeps": ([1000.0, 2000.0], [0.1, 0.05]),
        "impulse, iterations": ([1000.0, 1500.0], [0.1, 0.09]),
        "verlet, substeps": ([500.0], [0.2]),  # an infinite error is not drawn
    }
    assert (axis.get_xscale(), axis.get_yscale()) == ("log", "log")


def test_no_cost_plot_unless_cost_is_measured():
    comparison = comparison_of()
    comparison.cost = {}
    assert plots.cost_figure(comparison) is None


@pytest.mark.parametrize(
    ("value", "text", "plainly"),
    [(1.0, "1", "1"), (1e-5, "10⁻⁵", "10⁻⁵"), (2e6, "2·10⁶", "2·10⁶"), (0.02, "2·10⁻²", "0.02"),
     (5e4, "5·10⁴", "50\u2009000")],
)  # fmt: skip
def test_format_of_ticks(value, text, plainly):
    assert (figure.scientific(value), figure.plain(value)) == (text, plainly)


# The page ---------------------------------------------------------------------------------------------------------


class Links(HTMLParser):
    """Links of a page, its words, and the names of its elements."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.words, self.elements, self.open = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append(tag)
        self.open.append(tag)
        self.targets += [value for name, value in attributes if name in ("href", "src", "poster", "data", "xlink:href")]

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)


def test_every_link_of_the_page_is_a_file(written):
    assert written.paths[-1] == written.directory / "index.html"
    assert all(path.exists() for path in written.paths)
    targets = [target for target in written.found.targets if not target.startswith("#")]
    for target in targets:
        assert "/" not in target, target  # no network, no other directory
        assert ":" not in target, target
        assert (written.directory / target).is_file(), target
    films = {"comparison.mp4", "comparison.png", "ghosts.mp4", "ghosts.png"}
    others = {"summary.json", "summary.csv", "replay.html"}
    assert films | others | {"energy.png", "energy.svg", "cost.png"} <= set(targets)
    for local in written.found.targets:  # parts of plots
        if local.startswith("#"):
            assert f'id="{local[1:]}"' in written.text
    assert "url(http" not in written.text
    assert "script" not in written.found.elements


def test_page_names_solvers_settings_values_and_command(written):
    words = " ".join(" ".join(written.found.words).split())
    for expected in ("sliding", "A box slides.", "impulse", "verlet", "penalty", "reference", "substeps 2",
                     "direction <current>", "verletlab compare sliding --out 'a b'", "Taichi", "x64, 64 bits",
                     "0123456789abcdef"):  # fmt: skip
        assert expected in words, expected
    for label, colour in colours_of([(trace.label, trace.solver) for trace in written.comparison.traces]).items():
        assert written.text.count(colour) > 3, label  # in list, table and plots


def test_page_names_failed_and_unsupported_solvers(written):
    words = " ".join(" ".join(written.found.words).split())
    assert "penalty failed: step 51, at 0.51 s: body 'box' is not finite" in words
    assert "articulated did not run: a loop of <joints> would have to open" in words


def test_labels_are_escaped_on_the_page(tmp_path):
    comparison = comparison_of()
    name = "<script>alert(1)</script>"
    comparison.traces.append(trace_of("verlet", np.zeros(11), label=name))
    page.write(comparison, tmp_path)
    found = Links((tmp_path / "index.html").read_text("utf-8"))
    assert "script" not in found.elements
    assert name in "".join(found.words)


def test_plots_use_the_colours_of_the_page(written):
    assert figure.INK not in written.text.partition("</style>")[2]
    assert figure.INK in (written.directory / "energy.svg").read_text()
    assert written.found.elements.count("svg") == 7


def test_page_without_films_and_plots(tmp_path):
    path = page.write(comparison_of(), tmp_path, command="c")
    found = Links(path.read_text("utf-8"))
    assert found.targets == []
    assert "impulse" in found.words


# Colours ----------------------------------------------------------------------------------------------------------


def test_every_solver_and_run_has_its_own_colour():
    runs = [("impulse/100", "impulse"), ("verlet", "verlet"), ("impulse", "impulse"), ("verlet, more", "verlet")]
    found = colours_of(runs, "impulse/100")
    assert list(found) == [label for label, _ in runs]
    assert (found["verlet"], found["impulse"]) == (SOLVERS["verlet"], SOLVERS["impulse"])
    assert found["impulse/100"] == REFERENCE
    assert len(set(found.values())) == len(found)
    # Runs of one solver with different settings.
    found = colours_of([("coarse", "verlet"), ("fine", "verlet")])
    assert list(found.values()) == [SOLVERS["verlet"], MORE[0]]


def test_colours_have_enough_contrast():
    def luminance(colour):  # relative, of sRGB; the contrast of WCAG 2 is (L + 0.05) / (l + 0.05)
        linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in rgb(colour)]
        return np.dot(linear, (0.2126, 0.7152, 0.0722))

    for colour in (*SOLVERS.values(), REFERENCE):  # on white and on the dark page
        assert 1.05 / (luminance(colour) + 0.05) > 2.4, colour
        assert (luminance(colour) + 0.05) / (luminance("#14171c") + 0.05) > 3, colour


def test_films_stop_at_the_largest_deviation():
    comparison = comparison_of()  # verlet is at 0.5 t; penalty, which fails, does not count
    assert report.time_of_largest_deviation(comparison) == pytest.approx(1.0)
    comparison.traces[1].deviation["position"][4] = 3.0
    assert report.time_of_largest_deviation(comparison) == pytest.approx(4 * STEP)
    comparison.traces = comparison.traces[:1]
    assert report.time_of_largest_deviation(comparison) == np.inf
