"""Solver "penalty": rows as springs and dampers. Read step.py first, then forces.py."""

from rigid.solvers.penalty.solver import PenaltySolver

__all__ = ["PenaltySolver"]
