"""Solver "penalty": rows of joints and contacts as springs and dampers, on rigid/constraints/joints and rigid/collision."""

from rigid.solvers.penalty.solver import PenaltySolver

__all__ = ["PenaltySolver"]
