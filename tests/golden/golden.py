"""Golden digests: a short run of every catalogue scene with every solver, in 64 and 32 bits, on one and two threads.

    python tests/golden/golden.py check [SCENE ...] [--bits 64] [--threads 1]   compare with tests/golden/digests.json
    python tests/golden/golden.py write [SCENE ...] [--solver verlet]           write them into that file

A refactoring changes no digest. A change of method updates the file, and its commit says which results changed and why.
The number of threads never changes a digest, so the file holds one entry for all of them.

The file names the processor that it was written on; an entry that was written on another one names that. Compilers may
use other instructions on another kind of processor, and then bits may differ. There `check` compares the end of each
run with the numbers in the file to `TOLERANCE`, and names runs with other bits.

Some runs amplify round-off beyond that, such as a wall of bricks that touch exactly: whether two of them touch at the
start is round-off. So `write` makes each run again with positions and gravity that differ by round-off. If the numbers
at its end spread so far that they could exceed `TOLERANCE`, the file holds the spread, and `check` compares to `MARGIN`
times it.
"""

import argparse
import json
import multiprocessing
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

FILE = Path(__file__).parent / "digests.json"
DURATION = 0.3  # simulated time of a run [s]

# Bits x threads: Taichi starts once in a process, so each combination runs in a process of its own.
COMBINATIONS = [(bits, threads) for bits in (64, 32) for threads in (1, 2)]

# Relative difference to accept on another kind of processor. Round-off of 1e-16 (1e-7 in 32 bits) grows with the number
# of operations and, where bodies collide, exponentially in time.
TOLERANCE = {64: 1e-6, 32: 1e-2}

# Changes of positions at the start and of gravity that stand for another processor, in parts of the round-off of the
# farthest coordinate and of gravity: that of one operation, and of many in sequence.
ROUND_OFFS = (1, 1, 10, 10, 100, 100)

# The tolerance of a run that amplifies round-off, in parts of the spread that ROUND_OFFS cause. Six samples of what is
# random miss a part of its range, and another processor rounds in each operation. Between one of AMD and one of Intel
# `wrecking_ball` with "penalty" differs by 2.8 spreads.
MARGIN = 10


def processor():
    """The kind of processor: its vendor, family, model and vector instructions, as Linux reports them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    except OSError:
        import platform

        return platform.processor() or platform.machine()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    vectors = sorted(flag for flag in facts.get("flags", "").split() if flag.startswith(("avx", "fma")))
    return " ".join([*(facts.get(key, "") for key in ("vendor_id", "cpu family", "model")), *vectors]).strip()


def pairs(names=()):
    """All (scene, solver) of the catalogue. Args: names: scenes; all if empty."""
    import scenes

    return [
        (name, solver)
        for name in scenes.available()
        if not names or name in names
        for solver in scenes.load(name).solvers
    ]


def measure(name, solver, change=None):
    """Run a scene for DURATION.

    Args: name, solver; change: function that changes the Run before its first step.

    Returns: dict of digest (of the final state), and of numbers: energies [J], and per axis the mean and the standard
    deviation of the final positions [m].
    """
    import scenes
    from scenes.simulate.run import Run

    running = Run(scenes.load(name), solver, DURATION)
    if change:
        change(running)
    *_, frame = running.frames()
    positions = np.concatenate([frame.positions, frame.body_poses[:, :3]])
    numbers = [*running.system.energy(), *positions.mean(axis=0), *positions.std(axis=0)]
    return {"digest": running.about()["digest"], "numbers": [float(each) for each in numbers]}


def change_by_round_off(running, bits, round_offs, random):
    """Change positions and gravity of a Run at random. Args: round_offs: how far (ROUND_OFFS); random: a generator."""
    system, part = running.particles or running.system, round_offs * np.finfo(f"f{bits // 8}").eps
    state = system.state() if running.particles else system.state(warm_start=False)
    system.gravity = system.gravity + part * np.linalg.norm(system.gravity) * random.uniform(-1, 1, 3)
    shift = part * np.abs(state.position).max() * random.uniform(-1, 1, state.position.shape)
    moved = {name: getattr(state, name) + shift for name in ("position", "previous_position") if hasattr(state, name)}
    system.set_state(replace(state, **moved))


def spread(name, solver, bits, numbers, seed=0):
    """By how much round-off changes the numbers of a run: a list. Args: numbers: of the run without the change."""
    random, found = np.random.default_rng(seed), []
    for round_offs in ROUND_OFFS:
        change = partial(change_by_round_off, bits=bits, round_offs=round_offs, random=random)
        found.append(np.abs(np.subtract(measure(name, solver, change)["numbers"], numbers)))
    return [float(f"{each:.1e}") for each in np.max(found, axis=0)]


def run_pairs(bits, threads, chosen, with_spread=False):
    """Measure pairs in this process, which starts Taichi here.

    Args: bits, threads, chosen; with_spread: whether entries have their spread if TOLERANCE does not suffice.

    Returns: {"scene solver": entry}.
    """
    import taichi as ti

    ti.init(
        arch=ti.cpu, default_fp=ti.f64 if bits == 64 else ti.f32, cpu_max_num_threads=threads, log_level=ti.ERROR,
        verbose=False,
    )  # fmt: skip
    # The cheapest level compiles five times as fast to the same bits.
    ti.cfg.opt_level = 0
    found = {}
    for name, solver in chosen:
        found[f"{name} {solver}"] = entry = measure(name, solver)
        if with_spread:
            with_it = {**entry, "spread": spread(name, solver, bits, entry["numbers"])}
            if (tolerances(with_it, bits) > tolerances(entry, bits)).any():
                found[f"{name} {solver}"] = with_it
        print(f"{bits} bits, {threads} threads: {name} {solver} {entry['digest']}", flush=True)
    return found


def run_combinations(combinations, chosen, with_spread=False):
    """Run each combination in a process of its own, two at a time. Returns: list of what `run_pairs` returns."""
    given = [(bits, threads, chosen, with_spread and threads == 1) for bits, threads in combinations]
    with multiprocessing.get_context("spawn").Pool(2, maxtasksperchild=1) as pool:
        return pool.starmap(run_pairs, given, chunksize=1)


def tolerances(golden, bits):
    """Differences of numbers to accept on another kind of processor. Args: golden: an entry of the file; bits."""
    least = TOLERANCE[bits] * (1 + np.abs(golden["numbers"]))
    return np.maximum(least, MARGIN * np.array(golden.get("spread", 0.0)))


def differences(expected, found, bits, written_on):
    """Compare entries with those of the file.

    Args: expected, found: {"scene solver": entry}; bits; written_on: the processor of entries that name none.

    Returns: a line for each difference.
    """
    lines = []
    for pair, entry in found.items():
        golden = expected.get(pair, {})
        same_processor = golden.get("processor", written_on) == processor()
        if not golden:
            write = f"`python tests/golden/golden.py write {pair.split()[0]}`"
            lines.append(f"{pair} in {bits} bits: not in {FILE.name}; run {write}")
        elif same_processor and entry["digest"] != golden["digest"]:
            lines.append(f"{pair} in {bits} bits: digest {entry['digest']}, expected {golden['digest']}")
        elif not (np.abs(np.subtract(entry["numbers"], golden["numbers"])) <= tolerances(golden, bits)).all():
            lines.append(f"{pair} in {bits} bits: {entry['numbers']}, expected {golden['numbers']}")
    return lines


def main():
    """Read the command line. Returns: the exit status."""
    from pbd.core.validate import nearest

    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("action", choices=("check", "write"))
    parser.add_argument("scenes", nargs="*", help="names of scenes; all if none is given")
    parser.add_argument("--solver", help="one solver instead of all")
    parser.add_argument("--bits", type=int, choices=(64, 32), help="one precision instead of both")
    parser.add_argument("--threads", type=int, choices=(1, 2), help="one number of threads instead of both")
    given = parser.parse_args()
    if given.action == "write" and (given.bits or given.threads):
        parser.error("write takes scenes and a solver: the file holds all precisions and threads")
    chosen = [pair for pair in pairs(given.scenes) if given.solver in (None, pair[1])]
    unknown = set(given.scenes) - {scene for scene, _ in chosen}
    if unknown or not chosen:
        name, known = min(unknown, default=given.solver), {word for pair in pairs() for word in pair}
        hint = f"; solver {given.solver!r} does not run it" if name in known else nearest(name, known)
        parser.error(f"no run of {name!r}: expected a scene, and a solver that runs it{hint}")
    combinations = [c for c in COMBINATIONS if given.bits in (None, c[0]) and given.threads in (None, c[1])]
    writes = given.action == "write"
    anew = writes and not given.scenes and not given.solver
    golden = {"processor": processor(), "64": {}, "32": {}} if anew else json.loads(FILE.read_text())
    written_on = golden["processor"]
    if not writes and written_on != processor():
        print(f"most digests are of {written_on}, this is {processor()}: comparing numbers instead")
    written, lines, close = {}, [], {}  # close: runs whose bits differ, in their order; without lines all are close
    for (bits, _), found in zip(combinations, run_combinations(combinations, chosen, with_spread=writes)):
        if writes:
            for entry in found.values() if written_on != processor() else ():
                entry["processor"] = processor()
            lines += differences(written.setdefault(str(bits), found), found, bits, written_on)
        else:
            expected = golden[str(bits)]
            lines += differences(expected, found, bits, written_on)
            others = (pair for pair in found if found[pair]["digest"] != expected.get(pair, {}).get("digest"))
            close |= dict.fromkeys(others)
    if writes:
        names = [f"{scene} {solver}" for scene, solver in pairs([])]
        for bits, found in written.items():
            entries = golden[bits] | found
            golden[bits] = {name: entries[name] for name in names if name in entries}
        FILE.write_text(json.dumps(golden, indent=1) + "\n")
    done = f"written to {FILE.name}, equal on one and two threads" if writes else "all equal"
    if close:  # on another kind of processor
        count = f"{len(chosen) - len(close)} of {len(chosen)} in bits"
        done = f"{count}, {len(close)} within tolerance ({', '.join(close)})"
    print("\n".join(lines) or f"{len(chosen)} runs in {len(combinations)} combinations: {done}")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    sys.exit(main())
