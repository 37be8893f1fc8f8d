"""Count the files that a reader follows: those that a few short runs enter, as plain Python, with a profiler.

    VERLETLAB_KERNELS=plain python tests/files_to_follow.py      prints a table, and the files of a contact impulse

A contact impulse of "impulse" is followed from its contact point to the velocities of bodies: through the functions of
its step that detect contacts, prepare groups, start warm and iterate, in rigid/solvers and rigid/constraints. Geometry
(rigid/collision), arithmetic (rigid/kernels, pbd) and declarations (data.py) are counted with the whole step.
"""

import sys
from pathlib import Path

import taichi as ti

ROOT = Path(__file__).parents[1]

# The functions of a step of "impulse" through which a contact impulse passes.
PHASES = {"detect_contacts", "prepare_groups", "warm_start", "solve_velocities"}


def entered(call, step=None, phases=()):
    """The functions of pbd and rigid that a call enters, without pbd/core/kernels.

    Args: call: a function without arguments; step, phases: with these alone the function `step` itself, and what the
    functions `phases` call that it calls. Returns: set of (file, function).
    """
    found, stack = set(), []

    def profile(frame, event, _):
        code = frame.f_code
        if event == "call":
            stack.append(code.co_name)
            path = Path(code.co_filename)
            if path.is_absolute() and path.is_relative_to(ROOT):
                name = str(path.relative_to(ROOT))
                counts = name.startswith(("pbd/", "rigid/")) and not name.startswith("pbd/core/kernels/")
                if counts and (step is None or is_within(stack, step, phases)):
                    found.add((name, code.co_name))
        elif event == "return" and stack:
            stack.pop()

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def is_within(stack, step, phases):
    """Whether the last of some nested calls is `step`, or within one of its phases. Args: see `entered`."""
    if step not in stack:
        return False
    below = stack[stack.index(step) + 1 :]
    return not below or any(name in phases for name in below)


def files(functions, *folders):
    """Sorted files of functions. Args: functions: see `entered`; folders: of which they are; all if none is given."""
    return sorted({file for file, _ in functions if not folders or file.startswith(folders)})


def sphere_on_the_ground():
    """A solver "impulse" with a sphere that rests on the ground, after its first step."""
    import rigid

    model = rigid.Model()
    model.add_ground(friction=0.5)
    model.add_sphere(0.1, mass=1.0, position=(0, 0, 0.1), velocity=(0.1, 0, 0))
    solver = rigid.solver("impulse", model, dt=0.01)
    solver.step()
    return solver


def files_of_a_contact_impulse():
    """The files through which a contact impulse of "impulse" passes."""
    functions = entered(sphere_on_the_ground().step, "advance_substep", PHASES)
    return [each for each in files(functions, "rigid/solvers/", "rigid/constraints/") if not each.endswith("/data.py")]


def stick():
    """What enters functions from `add_stick` to moved positions. Returns: {part: functions}."""
    import pbd

    particles = pbd.Particles(gravity=(0, 0, -9.81))
    first = particles.add_particle((0, 0, 0), mass=1.0)
    second = particles.add_particle((1, 0, 0), mass=1.0)
    made = []
    parts = {
        "add_stick": entered(lambda: particles.add_stick(first, second)),
        "construction": entered(lambda: made.append(pbd.ParticleSystem(particles, dt=0.01))),
    }
    made[0].step()
    return {**parts, "step": entered(made[0].step)}


def hinge():
    """What enters functions from `add_hinge` to moved bodies with "verlet". Returns: {part: functions}."""
    import rigid

    model = rigid.Model(gravity=(0, 0, -9.81))
    rod = model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0))
    made = []
    parts = {
        "add_hinge": entered(lambda: model.add_hinge(rigid.GROUND, rod, (0, 0, 0), (0, 1, 0))),
        "construction": entered(lambda: made.append(rigid.solver("verlet", model, dt=0.01))),
    }
    made[0].step()
    return {**parts, "step": entered(made[0].step)}


def main():
    """Print the table."""
    ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)
    of_impulse = files_of_a_contact_impulse()
    runs = {"impulse, a sphere on the ground": {"step": entered(sphere_on_the_ground().step)}}
    runs |= {"a stick": stick(), "verlet, a hinge": hinge()}
    print(f"a contact impulse of impulse: {len(of_impulse)} files")
    print(*(f"    {name}" for name in of_impulse), sep="\n")
    for name, parts in runs.items():
        for part, functions in parts.items():
            outside = [file for file in files(functions) if not file.startswith("pbd/core/")]
            count = len(files(functions))
            print(f"{name}, {part}: {len(functions)} functions in {count} files, {len(outside)} without pbd/core")


if __name__ == "__main__":
    main()
