"""`verletlab bench`: the benchmarks of the folder benchmarks/, which a checkout has beside this package."""

import importlib
import sys
from pathlib import Path

from pbd.core.messages import listed, nearest, shown
from scenes.cli.terminal import WrongCommand, start, usage_errors
from scenes.scene_files import is_own, name_of_scene

CHECKOUT = Path(__file__).resolve().parents[2]
FLAGS = ("count", "first", "solver", "classes", "fabrics", "picture")  # of some benchmarks


def imported():
    """The package benchmarks of this checkout; None if there is none, as in an installation of a wheel."""
    if not (CHECKOUT / "benchmarks" / "__init__.py").exists():
        return None
    if str(CHECKOUT) not in sys.path:
        sys.path.append(str(CHECKOUT))
    return importlib.import_module("benchmarks")


class Names:
    """Names of benchmarks, solvers or classes in words, made when the help is shown. Args: name: of the package."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        package = imported()
        return ", ".join(getattr(package, self.name)) if package else "none, they are in a checkout"


def add(commands, device):
    """Add the command to a parser. Args: commands: subparsers; device: a parser of `--device`."""
    made = commands.add_parser("bench", parents=[device], usage="verletlab bench [NAME ...] [FLAG ...]",
                               help="measure speed, accuracy and robustness, as CSV with a digest of the final "
                               "state")  # fmt: skip
    name = made.add_argument("name", nargs="*", metavar="NAME",
                             help="benchmarks: %(known)s (all); or a scene of your own, FILE.py or "
                             "FILE.py:FUNCTION")  # fmt: skip
    made.add_argument("--precision", type=int, default=32, choices=(32, 64), help="bits of a float (%(default)s)")
    made.add_argument("--count", type=int, metavar="N",
                      help="random scenes of each class, in chains (20) and robustness (5); particles along a side, in "
                      "curtain and fabric_cost (100)")  # fmt: skip
    made.add_argument("--first", type=int, metavar="SEED", help="first seed of random scenes (0)")
    solver = made.add_argument("--solver", metavar="NAME", help="solver of robustness: %(known)s (all)")
    classes = made.add_argument("--classes", metavar="A,B", help="classes of robustness: %(known)s (all)")
    fabrics = made.add_argument("--fabrics", metavar="A,B", help="fabrics of fabric: %(known)s (all)")
    made.add_argument("--picture", metavar="FILE", help="draw the drapes of fabric, or the costs of "
                      "fabric_cost or rods, as .png or .svg")  # fmt: skip
    name.known, solver.known, classes.known = map(Names, ("BENCHMARKS", "SOLVERS", "CLASSES"))
    fabrics.known = Names("FABRICS")
    made.set_defaults(command=run_benchmarks, quiet=False)


def run_benchmarks(given):
    """Run benchmarks and print them as CSV."""
    package = imported()
    if package is None:
        raise WrongCommand("no benchmarks here: they are in a checkout of the repository, beside the package scenes")
    for name in given.name:
        if name not in package.BENCHMARKS and not is_own(name):
            known = f"{nearest(name, package.BENCHMARKS)} (there are {listed(package.BENCHMARKS)})"
            raise WrongCommand(f"no benchmark called {shown(name)}{known}")
    names = given.name or list(package.BENCHMARKS)
    settings = {name: getattr(given, name) for name in FLAGS if getattr(given, name) is not None}
    for setting in settings:
        able = [name for name in names if setting in package.SETTINGS.get(name, ())]
        if able != names:
            known = ", ".join(name for name, taken in package.SETTINGS.items() if setting in taken)
            raise WrongCommand(f"--{setting} cannot be used with all of these benchmarks: expected {known} alone")
    for listed_flag in {"classes", "fabrics"} & settings.keys():
        settings[listed_flag] = settings[listed_flag].split(",")
    with usage_errors():
        start(given, opt_level=2)  # what is measured runs at its full speed from the start
        lines = package.rows([name_of_scene(name) if is_own(name) else name for name in names], **settings)
    for line in lines:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()
