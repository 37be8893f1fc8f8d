"""A figure and its line of CSV."""

import time

from scenes.simulate.device import running_on

COLUMNS = "benchmark,case,device,value,unit,state"


def fastest(work, repeats=7):
    """Least wall time of several calls [s]."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def row(benchmark, case, value, unit, state=""):
    """A line of CSV."""
    return f"{benchmark},{case},{running_on().replace(',', '')},{value:.4g},{unit},{state}"
