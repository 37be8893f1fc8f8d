"""Count the files that a reader follows: those that a few short runs enter, as plain Python, with a profiler.

    VERLETLAB_KERNELS=plain python tests/files_to_follow.py      prints the files to follow, and a table of all

A stick and a hinge are followed through nested calls: from `add_stick` to where it is kept, and from `step` to the
projection of its sticks. What is made in between, arrays and schedules, is counted with the construction.

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
            name = name_of(frame)
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


def nested(call, *ends):
    """Functions of nested calls that lead to functions in some files. Args: call; ends: how names of files begin.

    Returns: {file: names of functions}, in the order in which they are met first, without pbd/core.
    """
    found = {}

    def profile(frame, event, _):
        if event != "call" or not name_of(frame).startswith(ends):
            return
        frames = []
        while frame:
            frames.append(frame)
            frame = frame.f_back
        for each in reversed(frames):
            name = name_of(each)
            if name.startswith(("pbd/", "rigid/")) and not name.startswith("pbd/core/"):
                found.setdefault(name, {})[each.f_code.co_name] = None

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return {name: list(functions) for name, functions in found.items()}


def name_of(frame):
    """The name of a frame's file below the project's root, or "". Args: frame: of Python's stack."""
    path = Path(frame.f_code.co_filename)
    return str(path.relative_to(ROOT)) if path.is_absolute() and path.is_relative_to(ROOT) else ""


def two_particles():
    """A description of two particles, between which a stick may be added."""
    import pbd

    particles = pbd.Particles(gravity=(0, 0, -9.81))
    particles.add_particles([(0, 0, 0), (1, 0, 0)], mass=1.0)
    return particles


def a_rod():
    """A model of a rod, to which a hinge may be added at the origin."""
    import rigid

    model = rigid.Model(gravity=(0, 0, -9.81))
    model.add_box((0.5, 0.05, 0.05), mass=1.0, position=(0.25, 0, 0))
    return model


def hinge_of(model):
    """A function that adds a hinge between the ground and the rod of a model."""
    import rigid

    return lambda: model.add_hinge(rigid.GROUND, 0, (0, 0, 0), (0, 1, 0))


def files_of_a_stick():
    """The files from `add_stick` to moved positions. Returns: {file: names of functions}."""
    import pbd

    particles = two_particles()
    kept = nested(lambda: particles.add_stick(0, 1), "pbd/description/")
    system = pbd.ParticleSystem(particles, dt=0.01)
    system.step()
    return kept | nested(system.step, "pbd/constraints/stick.py")


def files_of_a_hinge():
    """The files from `add_hinge` to moved bodies with "verlet". Returns: {file: names of functions}."""
    import rigid

    model = a_rod()
    kept = nested(hinge_of(model), "rigid/joints/")
    solver = rigid.solver("verlet", model, dt=0.01)
    solver.step()
    return kept | nested(solver.step, "pbd/constraints/stick.py")


def stick():
    """What enters functions from `add_stick` to moved positions. Returns: {part: functions}."""
    import pbd

    particles, made = two_particles(), []
    parts = {
        "add_stick": entered(lambda: particles.add_stick(0, 1)),
        "construction": entered(lambda: made.append(pbd.ParticleSystem(particles, dt=0.01))),
    }
    made[0].step()
    return {**parts, "step": entered(made[0].step)}


def hinge():
    """What enters functions from `add_hinge` to moved bodies with "verlet". Returns: {part: functions}."""
    import rigid

    model, made = a_rod(), []
    parts = {
        "add_hinge": entered(hinge_of(model)),
        "construction": entered(lambda: made.append(rigid.solver("verlet", model, dt=0.01))),
    }
    made[0].step()
    return {**parts, "step": entered(made[0].step)}


def followed():
    """What a reader follows, and through which files: {name: files}."""
    return {
        "a contact impulse": files_of_a_contact_impulse(),
        "a stick": list(files_of_a_stick()),
        "a hinge": list(files_of_a_hinge()),
    }


def main():
    """Print the table."""
    sys.path[0] = str(ROOT)  # not tests/, whose folders have the names of packages
    ti.init(arch=ti.cpu, default_fp=ti.f64, log_level=ti.ERROR)
    runs = {"impulse, a sphere on the ground": {"step": entered(sphere_on_the_ground().step)}}
    runs |= {"a stick": stick(), "verlet, a hinge": hinge()}
    for name, found in followed().items():
        print(f"{name}: {len(found)} files", *(f"    {each}" for each in found), sep="\n")
    for name, parts in runs.items():
        for part, functions in parts.items():
            outside = [file for file in files(functions) if not file.startswith("pbd/core/")]
            count = len(files(functions))
            print(f"{name}, {part}: {len(functions)} functions in {count} files, {len(outside)} without pbd/core")


if __name__ == "__main__":
    main()
