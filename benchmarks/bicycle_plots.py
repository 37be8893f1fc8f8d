"""Plots of the bicycle after the push of source [2], at three speeds: path, lean and steer, angular rates."""

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.bicycle import lean_and_steer
from rigid.rotation import rotate
from scenes.catalogue.components.bicycle import PARTS
from scenes.comparison.report.figure import GRID, save, styled
from scenes.registry import load
from scenes.simulate.run import Run

SPEEDS = (4.6, 5.6, 6.6)  # [m/s]
INTERVAL, ARROWS = 1 / 48, 15  # of samples [s]; samples from arrow to arrow
LEAN, STEER = "#0072b2", "#d55e00"


class Ride(NamedTuple):
    """A ride (samples, ...): times [s]; the rear wheel's hub (samples, 2) [m]; the frame's axis to the left, as it
    leans (samples, 3); lean and steer, and their rates (samples, 2) [degrees, degrees/s]."""

    times: np.ndarray
    path: np.ndarray
    left: np.ndarray
    angles: np.ndarray
    rates: np.ndarray


def ride(speed, solver="articulated", duration=8.0, **parameters):
    """Run the scene `bicycle`. Args: speed [m/s]; solver; duration [s]; parameters: of the scene. Returns: a Ride."""
    scene = load("bicycle", speed=speed, **parameters)
    run = Run(scene, solver, duration)
    frame, rear = (list(PARTS).index(name) for name in ("frame", "rear_wheel"))
    found = []
    for _ in range(round(duration / INTERVAL)):
        state = run.system.state()
        left = rotate(state.rotation[frame], np.array([0.0, 1, 0]))
        ahead = np.array([left[1], -left[0], 0.0]) / np.hypot(left[0], left[1])
        turning = state.angular_velocity[frame] @ ahead, run.system.joint_velocities()["steering"]
        angles = np.degrees(lean_and_steer(run.system, frame))
        found.append((run.system.time, state.position[rear, :2], left, angles, np.degrees(turning)))
        run.step(round(INTERVAL / run.system.dt))
    return Ride(*(np.array(each) for each in zip(*found)))


def plot_bicycle(path, rides=None):
    """Plot rides at three speeds, a column each.

    Args: path: a .png or .svg file; rides: {speed [m/s]: Ride}; None to run the scene. Returns: the path.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rides = {speed: ride(speed) for speed in SPEEDS} if rides is None else rides
    with styled():
        figure = Figure((3.4 * len(rides), 7.2), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(3, len(rides), squeeze=False, sharey="row")
        for column, (speed, one) in zip(axes.T, rides.items()):
            draw_path(column[0], one)
            column[0].set_title(f"{speed:g} m/s", loc="left")
            for axis, values in ((column[1], one.angles), (column[2], one.rates)):
                axis.plot(one.times, values[:, 0], color=LEAN, label="lean")
                axis.plot(one.times, values[:, 1], color=STEER, linewidth=1.0, label="steer")
                axis.set_xlabel("time [s]")
                axis.grid(axis="y", color=GRID, linewidth=0.7)
        across = max(np.abs(one.path[:, 1]).max() for one in rides.values())
        axes[0, 0].set_ylim(-1.5 * max(across, 1.0), 0.75 * max(across, 1.0))
        names = "path of the rear hub: y [m]", "angle to the right [°]", "rate to the right [°/s]"
        for axis, name in zip(axes[:, 0], names):
            axis.set_ylabel(name)
        for axis in axes.flat:
            axis.set_axisbelow(True)
        axes[1, 0].legend(frameon=False)
    return save(figure, Path(path))


def draw_path(axis, one):
    """Draw the path of the rear hub, with arrows to the side to which the frame leans. Args: axis; one: a Ride."""
    axis.plot(*one.path.T, color=STEER)
    chosen = slice(None, None, ARROWS)
    size = np.sin(np.radians(one.angles[chosen, 0]))
    right = -one.left[chosen, :2] * size[:, None]
    arrows = axis.quiver(
        *one.path[chosen].T, *right.T, color=LEAN, angles="uv", width=0.006, scale_units="height", scale=0.12
    )
    axis.quiverkey(arrows, 0.72, 0.9, math.radians(2.0), "lean of 2°", labelpos="E", color=LEAN)
    axis.set_xlabel("x [m]")
    axis.grid(color=GRID, linewidth=0.7)
