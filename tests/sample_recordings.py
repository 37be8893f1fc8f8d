"""Recordings and comparisons of boxes that slide along x, made without a solver, so that all values are known."""

import numpy as np

import rigid
import scenes
from scenes.comparison.results import Comparison, Trace
from scenes.simulate.recording import Recording
from scenes.visuals import BodyVisual, Camera, StaticVisual, box

CAMERA = Camera((0, -8, 1), (0, 0, 1), field_of_view=30)  # x to the right, z up
EDGE = 0.6  # length of the box [m]
STEP = 0.1  # between frames [s]


def scene_of(post=(-1.6, 0.9), **more):
    """Make a scene of a box above the floor, with a white post. Args: post: (x, height) [m], or None for no post."""
    model = rigid.Model()
    model.add_box((EDGE, EDGE, EDGE), mass=1.0, position=(0, 0, 1), name="box")
    visuals = [BodyVisual(model, np.array([(0.85, 0.30, 0.24)]))]
    if post:
        x, height = post
        surface = box((0.3, 0.3, height), (1.0, 1.0, 1.0))
        surface.vertices = surface.vertices + np.array([x, 0, height / 2])
        visuals.append(StaticVisual([surface]))
    return scenes.Scene(model=model, visuals=visuals, camera=CAMERA, name="sliding", summary="A box slides.", **more)


def recording_of(x, solver="", y=0.0, **about):
    """Make a Recording of the box with a frame each STEP. Args: x: (frames,) [m]; solver: its name; y: [m]."""
    frames = len(x)
    poses = np.zeros((frames, 1, 7))
    poses[:, 0, 0], poses[:, 0, 1], poses[:, 0, 2], poses[:, 0, 3] = x, y, 1.0, 1.0
    empty = np.zeros((frames, 0, 3))
    return Recording(
        {"solver": solver, **about}, STEP * np.arange(frames), empty, empty, np.zeros((frames, 0, 7)), poses,
        np.zeros((frames, 1, 6)), np.zeros((frames, 3)),
    )  # fmt: skip


def trace_of(solver, x, label=None, failure="", gap=None, **settings):
    """Make a Trace of the box, which deviates by x. Args: x: (frames,) [m]; gap: of a joint (frames,) [m], or None."""
    recording = recording_of(np.asarray(x, float), solver)
    count = len(recording)
    kinetic, potential = 5.0 * recording.times, 20.0 - 4.0 * recording.times
    momentum = np.outer(recording.times, (3.0, 0.0, 4.0))  # of length 5 t
    series = {
        "kinetic": kinetic, "potential": potential, "total": kinetic + potential, "drift": 1.0 * recording.times,
        "linear_momentum": momentum, "angular_momentum": 0 * momentum, "penetration": np.zeros(count),
        "iterations": np.full(count, 10.0), "microseconds": np.array([np.nan, *[30.0] * (count - 1)]),
    }  # fmt: skip
    if gap is not None:
        series["joint_gap"] = np.asarray(gap, float)
    settings = {"dt": 0.01, "substeps": 2, "iterations": 10, **settings}
    digest = "" if failure else "0123456789abcdef"
    return Trace(solver, label or solver, settings, recording, series, {"position": np.abs(x)}, digest, failure,
                 {"device": "x64, 64 bits", "microseconds_per_step": 30.0})  # fmt: skip


def comparison_of():
    """Make a Comparison over one second: one box rests, one slides, one fails half way, one solver cannot run."""
    times = STEP * np.arange(11)
    traces = [
        trace_of("impulse", 0 * times, gap=np.full(11, 1e-3)),
        trace_of("verlet", 0.5 * times, gap=np.full(11, 1e-9), direction="<current>"),
        trace_of("penalty", -times[:6], failure="step 51, at 0.51 s: body 'box' is not finite"),
    ]
    settings = traces[0].settings
    cost = {
        "impulse": [(1000.0, 0.1, settings), (2000.0, 0.05, {**settings, "substeps": 4}),
                    (1500.0, 0.09, {**settings, "iterations": 20})],
        "verlet": [(500.0, 0.2, settings), (900.0, np.inf, {**settings, "substeps": 4})],
    }  # fmt: skip
    unsupported = {"articulated": "a loop of <joints> would have to open"}
    return Comparison(scene_of(), traces, "impulse", unsupported, None, cost)
