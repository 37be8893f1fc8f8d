"""Write the exercises to a folder: files of verletlab, in each of which the body of one kernel is removed.

    python docs/exercises/make.py FOLDER
    python docs/exercises/make.py FOLDER --solved
"""

import argparse
import ast
import importlib.util
import shutil
from pathlib import Path
from typing import NamedTuple

TESTS = Path(__file__).parent / "tests"


class Exercise(NamedTuple):
    """A function of a module, and a line that compiles in place of its body."""

    module: str
    function: str
    placeholder: str


EXERCISES = {
    "verlet_step": Exercise("pbd.integrate", "predict", "pass"),
    "stick": Exercise("pbd.constraints.stick", "project_along_current", "return [x[0], x[1]]"),
    "volume": Exercise("pbd.constraints.volume", "volume", "return 0.0, [0.0 * x[k] for k in ti.static(range(4))]"),
    "angle": Exercise("pbd.constraints.angle", "angle", "return 0.0, [0.0 * x[k] for k in ti.static(range(3))]"),
    "friction": Exercise("pbd.collision.contact", "apply_friction", "return x"),
    "box_distance": Exercise("pbd.core.shapes.box", "box_distance", "return x[0], ti.Vector([0.0, 0.0, 1.0])"),
    "rotation": Exercise("pbd.core.quaternions", "exponential", "return ti.Vector([1.0, 0.0, 0.0, 0.0])"),
    "impulse": Exercise("rigid.solvers.sequential.solve", "solve_row", "return 0.0, velocities"),
}


def source(module):
    """Text of a module, which is not imported."""
    spec = importlib.util.find_spec(module.partition(".")[0])
    path = Path(spec.origin).parent.joinpath(*module.split(".")[1:]).with_suffix(".py")
    return path.read_text("utf-8")


def without_body(text, function, placeholder):
    """A source text with a placeholder for the body of a function, whose docstring remains."""
    (found,) = (node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == function)
    lines = text.splitlines()
    task = ["    # Exercise: write this function. The next line is a placeholder.", f"    {placeholder}"]
    return "\n".join([*lines[: found.body[0].end_lineno], *task, *lines[found.end_lineno :]]) + "\n"


def write(folder, solved=False):
    """Write all exercises with their tests. Args: folder: it is made; solved: whether the bodies remain."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for test in TESTS.glob("*.py"):
        shutil.copyfile(test, folder / test.name)
    for name, exercise in EXERCISES.items():
        text = source(exercise.module)
        text = text if solved else without_body(text, exercise.function, exercise.placeholder)
        (folder / f"{name}.py").write_text(text, "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the exercises, and a test for each.")
    parser.add_argument("folder", help="where they are written")
    parser.add_argument("--solved", action="store_true", help="with the bodies: the solutions")
    given = parser.parse_args()
    write(given.folder, given.solved)
