"""Solver "articulated": generalised coordinates. Trees of links by the articulated-body method, the rest by impulses.

    spanning_trees.py     which joints become coordinates, and where loops are cut
    links.py              the arrays of trees; coordinates from poses
    kinematics.py         poses and axes, from the roots outward
    dynamics.py           the articulated-body method: read this
    velocity_products.py  velocity-product (Coriolis) terms, two ways
    generalised.py        what an impulse along a row does to trees
    variational.py        the step of second order, with chords.py and synchronise.py
    options.py data.py step.py kernel.py solver.py    read step.py first
"""

from rigid.solvers.articulated.solver import ArticulatedSolver

__all__ = ["ArticulatedSolver"]
