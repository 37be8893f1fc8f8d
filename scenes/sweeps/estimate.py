"""How long a sweep takes, from some of its runs."""

import time
from dataclasses import replace

from scenes.sweeps.shard import run_shard

SAMPLE = 12  # runs
PARTS = 0.02, 0.1  # of the duration, for which these run


def seconds_of(plan, jobs):
    """Estimate the wall time of a sweep [s].

    Some runs, spread over all, run for two short times in this process. Cost is linear in the duration.

    Args: plan: a SweepPlan; jobs: how many processes.
    """
    count = min(SAMPLE, plan.count)
    runs = [plan.run(k * (plan.count - 1) // max(count - 1, 1)) for k in range(count)]

    def cost(part):
        start = time.process_time()
        run_shard(replace(plan.job, duration=part * plan.duration), runs)
        return time.process_time() - start

    cost(PARTS[0])  # compiles
    short, long = map(cost, PARTS)
    of_sample = short + max(long - short, 0.0) * (1 - PARTS[0]) / (PARTS[1] - PARTS[0])
    return of_sample / count * plan.count / jobs


def in_words(seconds):
    """A time as text: "40 s", "12 min", "3.5 h", "9 days"."""
    for most, unit, name in ((100, 1, "s"), (5400, 60, "min"), (172_800, 3600, "h")):
        if seconds < most:
            return f"{seconds / unit:.2g} {name}"
    return f"{seconds / 86_400:,.3g} days"
