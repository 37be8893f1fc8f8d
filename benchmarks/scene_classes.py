"""Classes of random scenes, and the solvers that run them: names that the command line knows."""

from typing import NamedTuple

import rigid
from benchmarks.chains import CLASSES as CHAINS
from benchmarks.outcomes import FRAME


class Class(NamedTuple):
    """A class of random scenes: arguments of random_scene."""

    kind: str | None = None
    length: float | None = 1.0
    ratio: float | None = 10.0
    dt: float | None = FRAME


CLASSES = {
    **{f"chain {name}": Class("chain", *chains) for name, chains in CHAINS.items()},
    "chain 100 m": Class("chain", 100.0, 1.0),
    "chain 1/30 s": Class("chain", 1.0, 1.0, 1 / 30),
    "tree": Class("tree"),
    "loop": Class("loop"),
    "stack": Class("stack"),
    "heap": Class("heap"),
    "falling tree": Class("falling tree"),
    "wheels": Class("wheels"),
    "cloth": Class("cloth"),
    "particles": Class("particles"),
    "anything": Class(None, None, None, None),
}

MUJOCO = ("MuJoCo Euler", "MuJoCo implicitfast")
SOLVERS = (*rigid.SOLVERS, *MUJOCO)
