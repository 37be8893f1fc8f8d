"""Plot of benchmarks/rods.py: error against cost of rods."""

from pathlib import Path

from benchmarks.rod_programs import CANTILEVER, DIRECT, ITERATED, MUJOCO, OURS, PYELASTICA

# Colour, mark and line of each program in the plot.
STYLES = {
    OURS: ("#1f5fa8", "o", "-"), DIRECT: ("#c46a1b", "v", "--"), ITERATED: ("#d8a873", "x", ":"),
    MUJOCO: ("#3d8f5f", "^", "--"), PYELASTICA: ("#8a4fa3", "D", "--"),
}  # fmt: skip


def plot_costs(path, found):
    """Draw error against cost. Args: path: a .png or .svg file; found: {case: {program: list of Points}}.

    Returns: the path.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from scenes.comparison.report.figure import GRID, save, styled

    with styled():
        figure = Figure((9.6, 4.2), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, len(found), squeeze=False)[0]
        for axis, (case, programs) in zip(axes, found.items()):
            for name, points in programs.items():
                colour, mark, line = STYLES[name]
                axis.plot(*costs_and_errors(points), mark, color=colour)
                axis.plot(*costs_and_errors(best_of(points)), line, marker=mark, color=colour, label=name)
            what = "of the tip [% of the length]" if case == CANTILEVER else "of GJ at which it buckles [%]"
            axis.set(xscale="log", yscale="log", xlabel="processor time of 1 s of motion [s]", ylabel=f"error {what}",
                     title=f"A {case}. Below and left is better.")  # fmt: skip
            axis.grid(color=GRID, linewidth=0.7)
            axis.legend(frameon=False)
    return save(figure, Path(path))


def costs_and_errors(points):
    """Two lists [s, %]. Args: points."""
    return [each.seconds for each in points], [abs(each.error) for each in points]


def best_of(points):
    """Points with a smaller error than all that cost less, in the order of costs. Args: points."""
    best = []
    for each in sorted(points):
        if not best or abs(each.error) < abs(best[-1].error):
            best.append(each)
    return best
