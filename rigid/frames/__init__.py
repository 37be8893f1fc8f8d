"""Solver "verlet": bodies as frames of particles."""

from rigid.frames.solver import FrameSolver

__all__ = ["FrameSolver"]
