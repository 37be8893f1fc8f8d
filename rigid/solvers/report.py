"""The report of a kernel of rows to the host about its last substep: an array (worlds, REPORT) of each launch."""

import numpy as np

from pbd.core.kernels import Columns

# Iterations; the largest position error [m or rad]; contact points with rows; what rows store, if that is measured [J];
# turns of the last loops of threads (pbd/core/kernels/launch_length.py); the largest rise of the energy in the launch,
# in parts of its scale, and the largest gap of a joint, in parts of the mean distance of joints (energy_bound.py); the
# deepest overlap of two shapes in the launch, in parts of the thinner one, and their bodies (penalty/deep_contacts.py).
# Then events: the substep of the launch in which a world stopped being finite or ran away; the substep in which the
# energy or a gap was too large; how many contact points there were if the buffer was full.
REPORT = Columns(
    iterations=1,
    position_error=1,
    contacts=1,
    stored=1,
    last_turns=1,
    rise=1,
    gap=1,
    depth=1,
    body_a=1,
    body_b=1,
    diverged_substep=1,
    risen_substep=1,
    overflow=1,
)

# The columns of events, and their value as long as they have not happened, and of a rise that was not measured.
EVENTS, NOTHING = slice(REPORT.diverged_substep, REPORT.total), -1


def by_groups(launch, lanes):
    """A launch that takes a report with a row of each world. Args: launch: of a kernel with worlds in lanes; lanes.

    Lanes that are left over have copies of the last world, as in pbd/core/kernels/lanes/layout.py.
    """
    if lanes == 1:
        return launch

    def run(report, *given):
        worlds = np.minimum(np.arange(-(-len(report) // lanes) * lanes), len(report) - 1)
        rows = report[worlds].reshape(-1, lanes, REPORT.total)
        launch(rows, *given)
        report[:] = rows.reshape(-1, REPORT.total)[: len(report)]

    return run
