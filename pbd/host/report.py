"""The report of kernels: numbers for each world (pbd/data.py, REPORT)."""

import numpy as np

from pbd.core.kernels import real_type
from pbd.data import REPORT

# Columns that are sums over bands. Of the others, the largest number of all bands is that of the world.
SUMS = [REPORT.contacts, REPORT.elastic_energy, REPORT.kinetic_energy, REPORT.potential_energy]


class Report:
    """Reports of kernels.

    Args: worlds: how many; groups, lanes: kernels write a row for each lane of each group; bands: whether lanes are the
    bands of a world.

    Attributes: rows: (groups · lanes, REPORT), for kernels; worlds: (worlds, REPORT).
    """

    def __init__(self, worlds, groups, lanes, bands):
        self.rows = np.zeros((groups * lanes, REPORT.total), real_type())
        self.worlds = np.zeros((worlds, REPORT.total), real_type()) if bands else self.rows[:worlds]
        self.bands = bands

    def combine(self):
        """Write the rows of worlds, after a launch, if kernels report on bands."""
        if self.bands:
            bands = self.rows.reshape(len(self.worlds), -1, REPORT.total)
            self.worlds[:] = bands.max(axis=1)
            self.worlds[:, SUMS] = bands[..., SUMS].sum(axis=1)

    def leave_bands(self):
        """Let kernels report on worlds from now on."""
        self.rows, self.bands = self.worlds, False
