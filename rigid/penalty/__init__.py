"""Solver "penalty": rows of joints and contacts as springs and dampers, on rigid/joints and rigid/contact."""

from rigid.penalty.solver import PenaltySolver

__all__ = ["PenaltySolver"]
