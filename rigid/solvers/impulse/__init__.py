"""Solver "impulse": sequential impulses in maximal coordinates. Read step.py first, then maximal.py, and
rigid/solvers/sequential for the iterations."""

from rigid.solvers.impulse.solver import ImpulseSolver

__all__ = ["ImpulseSolver"]
