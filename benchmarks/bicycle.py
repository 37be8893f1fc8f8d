"""The bicycle after a small push: growth rates and frequencies by each solver, against linear theory.

Twelve bicycles of the two tables of source [2] run side by side: five speeds with a tilt of 18°, and seven tilts at
4.6 m/s. A push of 0.5 N s leans them by a tenth of a degree, so linear theory (bicycle_theory.py) applies.
"""

import math

import numpy as np

import rigid
from benchmarks.bicycle_theory import eigenvalues, ordered
from benchmarks.timing import has_32_bits, row
from scenes.catalogue.components.bicycle import PARTS, TILT, add_bicycle, lean

SPEEDS, TILTS, SPEED = (2.6, 3.6, 4.6, 5.6, 6.6), (15.0, 16.0, 17.0, 18.0, 19.0, 20.0, 21.0), 4.6  # [m/s], [degrees]
CASES = (*((speed, TILT) for speed in SPEEDS), *((SPEED, tilt) for tilt in TILTS))
PUSH, DURATION = 0.5, 4.0  # [N s], [s]
SAMPLE, SKIPPED = 0.01, 0.25  # interval of samples, and time before the first one that is fitted [s]
LARGEST = math.radians(2.0)  # lean or steer at which the fit ends [rad]

# Time step [s] and options of each solver. Wheels spin with up to 22 rad/s. The gyroscopic torque and the velocity
# products have errors of first order in the step, with opposite signs for "explicit". "verlet" is of second order.
SETTINGS = {
    "articulated": {
        "dt": 2.5e-4, "tolerance": 1e-10, "iterations": 1000, "gyroscopic": "explicit", "velocity_products": "explicit",
    },
    "impulse": {"dt": 1e-4, "tolerance": 1e-10, "iterations": 2000, "gyroscopic": "explicit"},
    "penalty": {
        "dt": 1e-4, "stiffness": 4e6, "damping": 4000.0, "angular_stiffness": 8e6, "angular_damping": 4000.0,
        "gyroscopic": "explicit",
    },
    "verlet": {"dt": 1e-3},
}  # fmt: skip


def bicycle(solvers=tuple(SETTINGS)):
    """Yield lines of CSV for each solver and case, then two tables in comments. Args: solvers: names."""
    if has_32_bits():
        yield "# bicycle: 32 bits are too few for a push so small: expected --precision 64"
        return
    for name in solvers:
        angles, digest = simulate(name)
        found = {}
        for case, values in zip(CASES, np.moveaxis(angles, 1, 0)):
            found[case] = fitted(values)
            label = f"{name} {case[0]:g} m/s {case[1]:g} degrees"
            yield row("bicycle", f"{label} growth", found[case][0].real, "1/s", digest)
            yield row("bicycle", f"{label} frequency", abs(found[case][0].imag), "rad/s", digest)
        yield from table_lines(name, found)


def pushed_model(speed, tilt, impulse):
    """A model of a bicycle that has just been pushed to the right at the centre of the frame.

    The first step distributes the momentum of the push among the bodies, as joints and wheels demand.

    Args: speed [m/s]; tilt [degrees]; impulse [N s].
    """
    model = rigid.Model()
    bodies = add_bicycle(model, speed, tilt)
    frame = model.bodies[bodies["frame"]]
    frame.velocity = frame.velocity + np.array([0.0, -impulse / PARTS["frame"].mass, 0.0])
    return model


def simulate(name, cases=CASES, impulse=PUSH, duration=DURATION, **options):
    """Run bicycles side by side.

    Args: name: of the solver; cases: pairs (speed [m/s], tilt [degrees]); impulse [N s]; duration [s]; options: of the
    solver, which replace SETTINGS.

    Returns: lean and steer, every SAMPLE (samples, cases, 2) [rad]; digest of the final state.
    """
    given = {**SETTINGS[name], **options}
    models = [pushed_model(*case, impulse) for case in cases]
    solver = rigid.solver(name, models, contacts=False, **given)
    count, frame = round(SAMPLE / given["dt"]), list(PARTS).index("frame")
    angles = [lean_and_steer(solver, frame)]
    for _ in range(round(duration / SAMPLE)):
        solver.step(count)
        angles.append(lean_and_steer(solver, frame))
    angles = np.array(angles)
    return angles.reshape(len(angles), len(cases), 2), solver.digest()


def lean_and_steer(solver, frame):
    """Lean of the frame and position of the steering, both to the right (..., 2) [rad]. Args: solver; frame: index."""
    return np.stack([lean(solver.state().rotation[..., frame, :]), solver.joint_positions()["steering"]], axis=-1)


def fitted(angles):
    """Eigenvalues of the motion of lean and steer, fitted to samples.

    Args: angles: see `fitted_matrix`. Returns: four eigenvalues [1/s], see `ordered`.
    """
    return ordered(np.log(np.linalg.eigvals(fitted_matrix(angles)).astype(complex)) / (2 * SAMPLE))


def steer_over_lean(angles):
    """Amplitude and phase of steer relative to lean in the weave, a complex number. Args: see `fitted_matrix`."""
    values, modes = np.linalg.eig(fitted_matrix(angles))
    weave = modes[:, np.argmax(values.imag)]
    return weave[1] / weave[0]


def fitted_matrix(angles):
    """The matrix of a linear recurrence, fitted to samples.

    Two samples x = (lean, steer) in a row are the four numbers y of a linear motion, y_{k+1} = B y_k. B is found by
    least squares; its eigenvalues are exp(λ interval). This is exact for linear motions.

    Args: angles: every SAMPLE (samples, 2) [rad]. Samples before SKIPPED, and beyond LARGEST, are left out.

    Returns: B (4, 4), for an interval of 2 SAMPLE.
    """
    beyond = np.flatnonzero(np.abs(angles).max(axis=1) > LARGEST)
    used = angles[round(SKIPPED / SAMPLE) : beyond[0] if len(beyond) else None : 2]
    pairs = np.hstack([used[:-1], used[1:]])
    return np.linalg.lstsq(pairs[:-1], pairs[1:], rcond=None)[0].T


def verdict(values):
    """Describe a motion. Args: values: its eigenvalues, those of the slowest mode first [1/s]."""
    if values[0].real < 0:
        return "stable"
    return "unstable, growing oscillation" if abs(values[0].imag) > 1e-6 else "unstable, lean and steer grow together"


def table_lines(name, found):
    """Yield the lines of both tables. Args: name: of the solver; found: {case: fitted eigenvalues}."""
    given = SETTINGS[name]
    yield f"# {name}, steps of {given['dt'] * 1e3:g} ms: growth [1/s] and frequency [rad/s] of the slowest mode"
    tables = (
        ("m/s, tilt 18 degrees", CASES[: len(SPEEDS)], 0), (f"degrees, {SPEED:g} m/s", CASES[len(SPEEDS) :], 1)
    )  # fmt: skip
    for title, cases, column in tables:
        yield f"# {title:>22}{'simulation':>20}{'linear theory':>20}  verdict"
        for case in cases:
            theory = eigenvalues(*case)
            same = "" if verdict(theory) == verdict(found[case]) else f" (theory: {verdict(theory)})"
            cells = "".join(f"{each[0].real:>+11.4f}{abs(each[0].imag):>9.4f}" for each in (found[case], theory))
            yield f"# {case[column]:>22g}{cells}  {verdict(found[case])}{same}"
