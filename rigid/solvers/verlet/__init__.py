"""Solver "verlet": bodies as frames of particles."""

from rigid.solvers.verlet.solver import FrameSolver

__all__ = ["FrameSolver"]
