"""Solver "impulse": sequential impulses in maximal coordinates, on the rows of rigid/joints and rigid/contact."""

from rigid.impulse.solver import ImpulseSolver

__all__ = ["ImpulseSolver"]
