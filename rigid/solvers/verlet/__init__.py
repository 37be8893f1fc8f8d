"""Solver "verlet": bodies as frames of particles. Read step.py first."""

from rigid.solvers.verlet.solver import VerletSolver

__all__ = ["VerletSolver"]
