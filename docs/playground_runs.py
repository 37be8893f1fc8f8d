"""Record the runs of the playground, from which sliders of a page choose, to build/playground.

    python docs/playground_runs.py             # those that are missing
    python docs/playground_runs.py rope        # this one, again

Each file is a script, because a page that is opened from a disk may not read other files: it calls `playground` of
docs/static/playground.js with the runs.
"""

import base64
import itertools
import json
import sys
import warnings
from pathlib import Path

import numpy as np

import pbd
from pbd import build
from scenes.simulate.device import initialise

FOLDER = Path(__file__).parents[1] / "build" / "playground"
FRAME_RATE = 30
UNIT = 1e-3  # of the numbers in a file [m]

ROPE = {
    "iterations": [1, 2, 4, 8, 16, 32, 64],
    "substeps": [1, 2, 4, 8],
    "compliance [m/N]": [0.0, 1e-4, 5e-4, 2e-3],
}
OSCILLATOR = {"steps in a period": [3, 4, 6, 8, 12, 20, 40, 80, 160], "drag [1/s]": [0.0, 0.2, 1.0]}


def packed(places):
    """Text of numbers [m], as 16-bit whole numbers of UNIT. Args: places: any array."""
    whole = np.clip(np.rint(np.asarray(places) / UNIT), -32_767, 32_767).astype("<i2")
    return base64.b64encode(whole.tobytes()).decode("ascii")


def rope_run(iterations, substeps, compliance):
    """A rope of 20 sticks and 1 kg/m, level at the start, pinned at one end: its frames, and what became of it."""
    particles = pbd.Particles()
    rope = build.rope(particles, [(0, 0, 0), (1, 0, 0)], 20, mass=1.0, compliance=compliance)
    particles.pin(rope.particles[:1])
    system = pbd.ParticleSystem(
        particles, dt=1 / 60, substeps=substeps, iterations=iterations, solve="iterative", direction="current"
    )
    frames, longest = [], 0.0
    for _ in range(4 * FRAME_RATE):
        places = system.positions()[:, [0, 2]]
        frames.append(places)
        longest = max(longest, np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
        system.step(60 // FRAME_RATE)
    said = f"at most {longest:.3f} m long; {substeps * iterations} projections of each stick in a step of 1/60 s"
    return {"frames": packed(frames), "said": said}


def oscillator_run(steps, drag):
    """An oscillator with a period of 1 s in steps of 1/steps s: its positions, and those of the exact solution."""
    h, rate = 1 / steps, 2 * np.pi
    particles = pbd.Particles(gravity=(0, 0, 0))
    particles.add_particle((1, 0, 0), mass=1.0)
    system = pbd.ParticleSystem(particles, dt=h, substeps=1, damping=1 - np.exp(-drag * h))
    places = [1.0]
    for _ in range(3 * steps):
        system.set_forces(-(rate**2) * system.positions())
        system.step()
        places.append(system.positions()[0, 0])
    times = h * np.arange(len(places))
    slow = np.sqrt(rate**2 - drag**2 / 4)  # x'' = -rate² x - drag x'
    fine = np.linspace(0, 3, 361)
    exact = [np.exp(-drag * t / 2) * (np.cos(slow * t) + drag / (2 * slow) * np.sin(slow * t)) for t in (times, fine)]
    error = np.abs(exact[0] - places).max()
    return {
        "curve": packed(np.stack([times, places], axis=1)),
        "exact": packed(np.stack([fine, exact[1]], axis=1)),
        "said": f"largest error in three periods {error:.2g} m",
    }


# What the script needs to draw: the box [left, bottom, right, top] of the picture [m], its width over its height, the
# radius of a circle [m], points of a frame, and frames in a second.
ROPE_PICTURE = {"box": [-1.35, -1.5, 1.35, 0.2], "aspect": 2.7 / 1.7, "circle": 1.0, "points": 21, "rate": FRAME_RATE}
OSCILLATOR_PICTURE = {"box": [-0.1, -1.4, 3.1, 1.4], "aspect": 2.2}

PLAYGROUNDS = {
    "rope": (rope_run, ROPE, ROPE_PICTURE),
    "oscillator": (oscillator_run, OSCILLATOR, OSCILLATOR_PICTURE),
}


def text_of(name):
    """The script of a playground."""
    run, sliders, picture = PLAYGROUNDS[name]
    runs = [run(*values) for values in itertools.product(*sliders.values())]
    shown = {"unit": UNIT, "sliders": [{"name": key, "values": values} for key, values in sliders.items()], **picture}
    return f"playground({json.dumps(name)}, {json.dumps({**shown, 'runs': runs}, separators=(',', ':'))});\n"


def main(names):
    """Write the scripts. Args: names: of playgrounds; empty for all that are missing."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    missing = names or [name for name in PLAYGROUNDS if not (FOLDER / f"{name}.js").exists()]
    if missing:
        initialise("cpu")
        warnings.simplefilter("ignore", UserWarning)  # that energy rises is what some of them show
    for name in missing:
        (FOLDER / f"{name}.js").write_text(text_of(name), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
