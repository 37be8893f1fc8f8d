"""The report of kernels: numbers for each world (pbd/data.py, REPORT)."""

import numpy as np

from pbd.core.kernels import real_type
from pbd.data import REPORT

# Columns that are sums over bands or strands. Of the others, the largest number of all is that of the world.
SUMS = [REPORT.contacts, REPORT.elastic_energy, REPORT.kinetic_energy, REPORT.potential_energy]


class Report:
    """Reports of kernels.

    Args: worlds: how many; groups, lanes: kernels write a row for each lane of each group; pieces: how many bands or
    strands of each world have these rows, None for worlds.

    Attributes: rows: (groups · lanes, REPORT), for kernels; worlds: (worlds, REPORT).
    """

    def __init__(self, worlds, groups, lanes, pieces):
        self.rows = np.zeros((groups * lanes, REPORT.total), real_type())
        self.worlds = np.zeros((worlds, REPORT.total), real_type()) if pieces else self.rows[:worlds]
        self.pieces = pieces

    def combine(self):
        """Write the rows of worlds, after a launch, if kernels report on pieces of them."""
        if self.pieces:
            pieces = self.rows.reshape(len(self.worlds), -1, REPORT.total)[:, : self.pieces]
            self.worlds[:] = pieces.max(axis=1)
            self.worlds[:, SUMS] = pieces[..., SUMS].sum(axis=1)

    def leave_pieces(self):
        """Let kernels report on worlds from now on."""
        self.rows, self.pieces = self.worlds, None
