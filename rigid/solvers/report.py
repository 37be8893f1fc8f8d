"""What a kernel of bodies tells the host of its last substep: columns of an array (worlds, REPORTS)."""

# Sweeps; the largest change of an impulse in the last; the largest error of position; points of contact; the step of
# the launch in which a world stopped being finite, -1 for none; how many points of contact there were, where that is
# more than there is room for, -1 where it is not.
SWEEPS, INCREMENT, ERROR_LEFT, TOUCHING, DIVERGED_STEP, CROWDED = range(6)
REPORTS = 6
