"""Measure a time, and format a line of CSV."""

import hashlib
import math
import time

import numpy as np

import pbd
from pbd.core.kernels import real_type
from scenes.simulate.device import running_on

COLUMNS = "benchmark,case,device,value,unit,state"


def fastest(work, repeats=7):
    """Least wall time of several calls [s]. Args: work: a function; repeats: how many calls."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def cpu_seconds(work):
    """CPU time of a call, which other processes hardly change [s]. Args: work: a function."""
    start = time.process_time()
    work()
    return time.process_time() - start


def cost_of_steps(solver, count):
    """Processor time of steps [s]. Args: solver: its `cpu_time`, if it has one, counts; count: how many."""
    clock = getattr(solver, "cpu_time", time.process_time)
    start = clock()
    solver.step(count)
    return clock() - start


def processor_time(solver, count):
    """Processor time of steps after the first one [s], NaN if they diverge. Args: solver; count: how many."""
    solver.step(1)
    try:
        return cost_of_steps(solver, count)
    except pbd.Diverged:
        return math.nan


def row(benchmark, case, value, unit, state=""):
    """Format a line of CSV, with the columns of COLUMNS."""
    return f"{benchmark},{case},{running_on().replace(',', '')},{value:.4g},{unit},{state}"


def has_32_bits():
    """Whether numbers have 32 bits, which are too few for small errors."""
    return real_type() == np.float32


def digest_of(digests):
    """One digest of several. Args: digests: strings."""
    return hashlib.sha256("".join(digests).encode()).hexdigest()[:16]
