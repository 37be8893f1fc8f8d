"""The report of a kernel of rows to the host about its last substep: an array (worlds, REPORT) of each launch."""

from pbd.core.arrays import Columns

# Iterations; the largest change of an impulse in the last iteration over velocities [N s]; the largest position error
# [m or rad]; contact points with rows; the substep of the launch in which a world stopped being finite, -1 for none;
# how many contact points there were if the buffer was full, -1 if it was not.
REPORT = Columns(iterations=1, change=1, position_error=1, contacts=1, diverged_substep=1, overflow=1)
