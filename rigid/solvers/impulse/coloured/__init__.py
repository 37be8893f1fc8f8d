"""Contacts in colours, with the option `coloured`: a step of its own, whose loops several threads share.

    step.py      the step; open it first
    colours.py   the order of joints and contacts: clusters in colours, which threads solve at the same time
    contacts.py  the contacts of a step
    search.py    contact points that several threads find
    turns.py     what the loops of the step do with one body, joint, group, contact or pack
    threads.py   how threads share these loops
    team.py      how threads of one launch share a loop

Nothing outside this folder knows it, but for rigid/solvers/impulse/solver.py, which makes the kernel of this step.
"""

from rigid.solvers.impulse.coloured.step import step_kernel
from rigid.solvers.impulse.coloured.threads import Sharing

__all__ = ["Sharing", "step_kernel"]
