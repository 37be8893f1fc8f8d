"""Solver "articulated": generalised coordinates. Trees of links by the articulated-body method, the rest by impulses.

    tree.py        which joints hold bodies together as coordinates do, and where loops are cut
    links.py       the arrays of trees; coordinates of poses
    kinematics.py  poses and axes, down the trees
    dynamics.py    the articulated-body method: read this
    products.py    the velocity products, two ways
    reduced.py     what an impulse along a row does to trees
    step.py        the time step: read this first
    solver.py      the door
"""

from rigid.solvers.articulated.solver import ArticulatedSolver

__all__ = ["ArticulatedSolver"]
