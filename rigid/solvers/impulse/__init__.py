"""Solver "impulse": sequential impulses in maximal coordinates, on the rows of rigid/constraints/joints and rigid/collision."""

from rigid.solvers.impulse.solver import ImpulseSolver

__all__ = ["ImpulseSolver"]
