"""The report of a kernel of rows to the host about its last substep: an array (worlds, REPORT) of each launch."""

from pbd.core.arrays import Columns

# Iterations; the largest change of an impulse in the last iteration over velocities [N s]; the largest position error
# [m or rad]; contact points with rows; the substep of the launch in which a world stopped being finite or ran away, -1
# for none; how many contact points there were if the buffer was full, -1 if it was not; the largest rise of the energy
# in the launch, in parts of its scale, and the largest gap of a joint, in parts of the mean distance of joints
# (watch.py); the substep in which one of them was too large, -1 for none; what rows store, if that is measured [J].
REPORT = Columns(
    iterations=1,
    change=1,
    position_error=1,
    contacts=1,
    diverged_substep=1,
    overflow=1,
    rise=1,
    gap=1,
    risen_substep=1,
    stored=1,
)
