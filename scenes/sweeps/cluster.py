"""Dask: a local cluster of processes, or a scheduler that runs somewhere, and the loop that gives it shards."""

import contextlib
import logging
import os
import signal
import sys
from multiprocessing import resource_tracker

from pbd.core.extras import load_extra
from scenes.sweeps.shard import failed, run_shard

PATIENCE = 10  # for a scheduler to answer [s]
OUTSTANDING = 3  # shards of each worker that the scheduler knows of


@contextlib.contextmanager
def connected(jobs=None, scheduler=None):
    """Context with a Dask Client.

    Args: jobs: how many processes of a local cluster; scheduler: address of a running one, None for a local cluster.

    Raises: ModuleNotFoundError without the extra; ConnectionError if no scheduler answers.
    """
    distributed = load_extra("distributed", "sweep")
    settings = {
        "distributed.comm.retry.count": 3, "distributed.scheduler.allowed-failures": 2,
        "distributed.worker.profile.enabled": False,  # it takes time of the workers
    }  # fmt: skip
    with contextlib.ExitStack() as stack:
        stack.enter_context(load_extra("dask", "sweep").config.set(settings))
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        address = scheduler
        if scheduler is None:
            stack.enter_context(without_main())
            with without_interrupts():
                address = stack.enter_context(distributed.LocalCluster(
                    n_workers=jobs, threads_per_worker=1, processes=True, memory_limit=0, dashboard_address=None,
                    scheduler_kwargs={"dashboard_address": ":0"},  # any port: another sweep may run beside this one
                    silence_logs=logging.CRITICAL,
                ))  # fmt: skip
        try:
            client = distributed.Client(address, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            expected = "expected the address of a running Dask scheduler, such as tcp://HOST:8786"
            raise ConnectionError(f"no scheduler answers at {scheduler}: {expected}") from error
        yield stack.enter_context(client)


@contextlib.contextmanager
def without_main():
    """Context in which new processes do not run the main module of this one again.

    Otherwise a script that calls `scenes.sweep` without `if __name__ == "__main__":` would start sweeps in its workers.
    Functions of the main module reach workers by value.
    """
    main = sys.modules["__main__"]
    before = {name: vars(main).pop(name) for name in ("__file__", "__spec__") if name in vars(main)}
    main.__spec__ = None
    try:
        yield
    finally:
        vars(main).update(before)


@contextlib.contextmanager
def without_interrupts():
    """Context in which threads and processes begin that Ctrl-C does not reach: it waits for this thread alone.

    A terminal sends it to all processes, and each worker would print where it was stopped.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # which lets signals through to the thread that starts it
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def processors():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run_shards(client, plan, shards, write):
    """Run shards on a cluster.

    A worker that is lost loses the shards that it was running; the scheduler gives them to others. Rows that are
    written are never computed again. If workers die again and again over a shard, its runs are done one by one, and one
    that ends its process is a row with this reason.

    Args: client: a Dask Client; plan: a SweepPlan; shards: indices; write: called with each shard and its rows.
    """
    distributed = load_extra("distributed", "sweep")
    waiting, futures = iter(shards), distributed.as_completed()
    shards_of = {}

    def submit(shard):
        future = client.submit(run_shard, plan.job, plan.runs_of(shard), pure=False)
        shards_of[future.key] = shard
        futures.add(future)

    def fill():
        most = OUTSTANDING * max(len(client.scheduler_info(n_workers=-1)["workers"]), 1)
        while len(shards_of) < most and (shard := next(waiting, None)) is not None:
            submit(shard)

    fill()
    for future in futures:
        shard = shards_of.pop(future.key)
        try:
            rows = future.result()
        except distributed.scheduler.KilledWorker:
            rows = [row_of_run(client, plan, run) for run in plan.runs_of(shard)]
        future.release()
        write(shard, rows)
        fill()


def row_of_run(client, plan, run):
    """The row of a run that is done by itself, because workers died over its shard."""
    try:
        return client.submit(run_shard, plan.job, [run], pure=False).result()[0]
    except load_extra("distributed", "sweep").scheduler.KilledWorker:
        return failed(RuntimeError("the process of the worker ended, several times"))
