"""Solver "impulse": sequential impulses in maximal coordinates. Read step.py first, then maximal.py, and
rigid/solvers/sequential for the iterations. The integrator of second order is in variational.py, with momenta.py,
work.py and synchronise.py; contacts in colours, for several threads, are in coloured/. kernel.py makes the kernels."""

from rigid.solvers.impulse.solver import ImpulseSolver

__all__ = ["ImpulseSolver"]
