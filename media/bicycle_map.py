"""Make the map of the bicycle's stability: growth rates over speed and tilt, by 10,000 runs and by linear theory.

    verletlab sweep bicycle_map.py:pushed_bicycle --param "speed=linspace(2,9,100)" \\
        --param "tilt=linspace(10,26,100)" --measure bicycle_map.py:growth --duration 2 --fps 100 --out DIR
    python bicycle_map.py DIR
"""

import sys
from pathlib import Path

import numpy as np

import scenes
from benchmarks.bicycle import PUSH, SETTINGS, fitted, pushed_model
from benchmarks.bicycle_theory import eigenvalues
from rigid.constraints.joints.positions import JointPositions
from scenes.catalogue.components.bicycle import PARTS, lean
from scenes.comparison.measure import state_of
from scenes.comparison.report.figure import INK, save, styled

LARGEST = 3.0  # growth rate of the colours [1/s]


def pushed_bicycle(speed: float = 4.6, tilt: float = 18.0):
    """A bicycle that a small push has just leant by a tenth of a degree."""
    settings = {**SETTINGS["articulated"], "dt": 1 / 800}
    return scenes.Scene(model=pushed_model(speed, tilt, PUSH), duration=2.0, settings={"articulated": settings})


def growth(scene, recording):
    """Growth rate [1/s] and frequency [rad/s] of the slowest mode, fitted to lean and steer."""
    state = state_of(recording)
    steer = JointPositions(scene.model).positions(state)["steering"]
    slowest = fitted(np.stack([lean(state.rotation[:, list(PARTS).index("frame")]), steer], axis=-1))[0]
    return {"growth": slowest.real, "frequency": abs(slowest.imag)}


def draw(table, path):
    """Draw the map of a sweep's table beside that of linear theory. Args: table: a DataFrame. Returns: the path."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    found = table.pivot(index="tilt", columns="speed", values="growth")
    theory = np.array([[eigenvalues(speed, tilt)[0].real for speed in found.columns] for tilt in found.index])
    with styled():
        figure = Figure((9.0, 3.7), layout="constrained")
        FigureCanvasAgg(figure)
        panes = figure.subplots(1, 2, sharey=True)
        for axis, values, title in zip(panes, (found.to_numpy(), theory), (f"{len(table):,} runs", "linear theory")):
            drawn = axis.pcolormesh(found.columns, found.index, values, cmap="RdBu_r", vmin=-LARGEST, vmax=LARGEST)
            axis.contour(found.columns, found.index, values, [0.0], colors=INK, linewidths=1.2)
            axis.set_title(f"growth of the slowest mode [1/s]: {title}", loc="left")
            axis.set_xlabel("speed [m/s]")
        panes[0].set_ylabel("tilt of the steering axis [degrees]")
        figure.colorbar(drawn, ax=panes, extend="both")
    apart = np.abs(found.to_numpy() - theory)
    print(f"median difference {np.nanmedian(apart):.2g} 1/s, largest {np.nanmax(apart):.2g} 1/s")  # noqa: T201
    return save(figure, path)


if __name__ == "__main__":
    import pandas

    draw(pandas.read_parquet(Path(sys.argv[1]) / "table.parquet"), Path(__file__).parent / "bicycle_map.png")
