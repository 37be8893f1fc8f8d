"""Limits of the benchmarks' figures, for a quiet machine: `make test-all`."""

import os
import shutil
import subprocess
import sys

import pytest

pytestmark = pytest.mark.benchmark


def rows(name, precision=32, *flags):
    """Run one benchmark in its own process. Args: flags: further ones. Returns: {case: (value, digest)}."""
    command = [sys.executable, "-m", "scenes", "bench", name, "--precision", str(precision), *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = [line.split(",") for line in done.stdout.splitlines() if line.startswith(f"{name},")]
    return {line[1]: (float(line[3]), line[5]) for line in lines}


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler to compare with")
@pytest.mark.parametrize(("precision", "in_lanes"), [(32, 2.5), (64, 1.8)])
def test_sticks_on_one_thread_are_faster_than_c_in_lanes_and_nearly_as_fast_without(precision, in_lanes):
    found = rows("sticks", precision)
    assert found["128x128 iterations ours to C"][0] >= in_lanes
    assert found["128x128 iterations ours to C lanes=1"][0] >= 0.8
    # Both compute the same, to the round-off of four steps of ten iterations.
    assert found["128x128 difference from C"][0] < (1e-6 if precision == 32 else 1e-14)


@pytest.mark.skipif(os.cpu_count() < 2, reason="one core")
def test_two_threads_are_one_and_a_half_times_as_fast():
    found = rows("threads")
    cases = [case for case in found if "threads to 1" in case]
    assert found[cases[0]][0] >= 1.5
    states = {state for value, state in found.values() if state}
    assert len(states) == 1  # the same bits


@pytest.mark.skipif(os.cpu_count() < 2, reason="one core")
def test_a_pile_on_two_threads_is_one_and_a_half_times_as_fast():
    found = rows("pile", 64)
    assert found["50 ragdolls 1 thread to 2"][0] >= 1.5
    assert found["50 ragdolls on 1"][1] == found["50 ragdolls on 2"][1]  # the same bits


def test_small_scene_is_fast():
    found = rows("small", 64)
    assert found["rope of 20 step(1)"][0] <= 60
    assert found["rope of 20 step(1000)"][0] <= 6


@pytest.fixture(scope="module")
def ragdolls():
    return {case: value for case, (value, _) in rows("ragdoll", 64).items()}


def test_pile_of_ragdolls_is_fast(ragdolls):
    assert ragdolls["pile of 50"] <= 6


# Limits with a comment have a stricter goal. They are the times measured on 2026-11-22, with a margin for noise.


@pytest.mark.parametrize(
    ("case", "limit"),
    [
        ("step(1)", 80),  # µs
        ("step(1000)", 60),  # measured 42 on an Intel Xeon, 36 there with the code of 2026-11-22; the goal is 20
        ("figure step(1000)", 6),
    ],
)
def test_ragdoll_is_fast(ragdolls, case, limit):
    assert ragdolls[case] <= limit


def test_ragdolls_in_many_worlds_are_fast(ragdolls):
    assert ragdolls["100 worlds"] >= 45_000  # measured 60,000 per second; the goal is 150,000


def test_a_frame_of_a_ragdoll_costs_a_part_of_many_iterated_substeps():
    # Measured 0.31 to 0.36; the goal is 0.25. Limits within half a degree, joints within a millimetre.
    found = {case: value for case, (value, _) in rows("frame", 64).items()}
    assert found["ratio of the times"] <= 0.45
    assert found["settings of the scene limits"] < 0.5
    assert found["settings of the scene joints"] < 1.0


@pytest.mark.parametrize("solver", ["verlet", "impulse", "articulated", "penalty"])
def test_a_step_alone_costs_little_more_than_its_share_of_many(solver):
    # Measured 1.03 to 1.2 on a busy machine.
    found = {case: value for case, (value, _) in rows("launches", 64).items()}
    assert found[f"ragdoll {solver} step(1) to its share"] <= 1.4


@pytest.fixture(scope="module")
def impulses():
    return {case: value for case, (value, _) in rows("impulse", 64).items()}


@pytest.mark.parametrize(
    ("case", "limit"),
    [
        ("chain of 5 10 iterations step(1000)", 20),  # µs; measured 14.5; the goal is 10
        ("chain of 5 to 1e-6 step(1000)", 100),
        ("ragdoll 20 iterations step(1000)", 80),
        ("pyramid of 55 boxes", 2),  # ms
    ],
)
def test_impulses_are_fast(impulses, case, limit):
    assert impulses[case] <= limit


def test_impulses_in_many_worlds_are_fast(impulses):
    assert impulses["ragdoll 100 worlds"] >= 30_000


@pytest.fixture(scope="module")
def articulated():
    return {case: value for case, (value, _) in rows("articulated", 64).items()}


@pytest.mark.parametrize(("links", "limit"), [(5, 3), (100, 60)])
def test_chain_without_friction_is_fast(articulated, links, limit):
    assert articulated[f"chain of {links}"] <= limit  # µs


def test_time_of_a_chain_grows_linearly_with_its_links(articulated):
    # Within 15 % of the line through the origin and the longest chain.
    for links in (20, 100):
        assert articulated[f"chain of {links}"] == pytest.approx(articulated["chain of 400"] * links / 400, rel=0.15)


def test_chains_in_many_worlds_are_fast(articulated):
    assert articulated["chain of 5 10000 worlds"] >= 1e6


def test_steps_of_table_1_are_faster_than_in_the_source():
    # Times in the source [ms], on a 3 GHz Pentium D.
    found = rows("table1", 64)
    source = {
        "five_link_chain": (0.5, 0.1), "peaucellier_lipkin": (16, 1.2), "manipulator": (3, 0.6), "gripper": (3, 0.6),
    }  # fmt: skip
    for name, times in source.items():
        for solver, limit in zip(("impulse", "articulated"), times):
            assert found[f"{name} {solver} time"][0] < limit
    # Iterations: six for the chain and forty for the linkage, a quarter of those in maximal coordinates.
    for name, limit in (("five_link_chain", 6), ("peaucellier_lipkin", 40)):
        mean = found[f"{name} articulated mean"][0]
        assert mean <= limit
        assert found[f"{name} impulse mean"][0] >= 4 * mean


def test_error_at_mass_ratio_100():
    # The table of the README [%]. None: the stack falls, and loses most of its height.
    found = rows("mass_ratio", 64)
    expected = {"impulse": (None, None, 0.49, 0.14, 0.025, 0.010), "verlet": (None, None, None, 2.7, 1.3, 0.50)}
    for solver, errors in expected.items():
        for iterations, error in zip((5, 10, 20, 50, 100, 200), errors):
            measured = found[f"{solver} {iterations} iterations"][0]
            assert measured > 30 if error is None else measured == pytest.approx(error, rel=0.05)


@pytest.mark.skipif(os.cpu_count() < 2, reason="one core")
def test_world_among_many_is_as_fast_as_one_alone():
    found = rows("worlds")
    assert found["1000 ropes of 20"][0] <= found["1 ropes of 20"][0]


@pytest.mark.parametrize(("precision", "ratio"), [(32, 5), (64, 3.5)])
def test_worlds_in_lanes_are_several_times_as_fast(precision, ratio):
    found = rows("lanes", precision)
    ratios = {case.removesuffix(" 64 worlds to 1"): value for case, (value, _) in found.items()}
    for case in ("figure in the air", "figure on a floor", "ragdoll verlet in the air", "ragdoll impulse in the air"):
        assert ratios[case] >= ratio
    assert ratios["ragdoll verlet on a floor"] >= (3.5 if precision == 32 else 2.5)
    assert ratios["ragdoll impulse on a floor"] >= 2.5


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler to compare with")
@pytest.mark.parametrize(("precision", "limit"), [(32, 3.5), (64, 6.0)])
def test_cloth_of_100_by_100_is_cheap_and_whole(precision, limit):
    found = rows("drape", precision)
    assert found["cost mean"][0] <= limit
    assert found["intersections"][0] == 0
    assert found["mean strain"][0] <= 0.6


def test_million_particles():
    found = rows("million")
    assert found["build and first step"][0] < 20
    assert found["peak memory"][0] < 1.5


def test_a_processor_has_half_the_speed_of_two_busy_cores():
    found = rows("device")  # they made 56 frames/s and 31,000 ragdoll-steps/s
    assert found["drape 100 x 100"][0] > 28
    assert found["100 ragdolls"][0] > 15_000


@pytest.fixture(scope="module")
def viewed():
    return {case: value for case, (value, _) in rows("view", 64).items()}


def test_slowest_second_of_each_scene_runs_in_real_time(viewed):
    slowest = {case: value for case, value in viewed.items() if case.endswith("slowest second")}
    assert len(slowest) == 14  # two cloths, and three scenes of bodies by four solvers
    assert {case: value for case, value in slowest.items() if value < 60} == {}  # frames of 1/60 s


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler to compare with")
def test_speed_of_the_cloth_comes_with_that_of_the_machine(viewed):
    # A frame of the slowest second costs 3.8 million projections of the C loop (`bench drape`), and the read-out.
    assert viewed["cloth 100x100 verlet slowest second"] >= viewed["C loop on this machine"] / 4.2


def test_viewer_adds_two_milliseconds_at_most(viewed):
    assert viewed["cloth 100x100 shown to nobody"] <= 2  # ms
    assert viewed["cloth 100x100 shown to a page"] <= 2


def test_sweep_costs_three_times_the_bare_solver_at_most():
    # Each run is also built, measured at 361 frames and written.
    pytest.importorskip("distributed")
    found = rows("sweep", 64)
    assert found["10000 pendulums ratio"][0] <= 3
    assert found["10000 pendulums sweep"][1] == found["10000 pendulums bare solver"][1]  # the same states


@pytest.mark.parametrize(("state", "limit"), [("cold", 15.0), ("warm", 4.0)])
def test_first_picture_is_fast(state, limit, tmp_path, benchmark_cache):
    import time

    environment = {**os.environ, "TI_OFFLINE_CACHE_FILE_PATH": str(benchmark_cache)}
    command = [sys.executable, "-m", "scenes", "render", "drape", "--duration", "0.02", "--out", tmp_path / "a.png"]
    if state == "warm":
        subprocess.run(command, env=environment, check=True)
    start = time.perf_counter()
    subprocess.run(command, env=environment, check=True)
    assert time.perf_counter() - start < limit


@pytest.fixture
def benchmark_cache(tmp_path):
    return tmp_path / "cache"


def test_bicycles_are_stable_between_their_critical_speeds():
    # Linear theory: stable between 4.2924 and 6.0243 m/s at a tilt of 18 degrees.
    found = rows("bicycle", 64)
    for solver in ("articulated", "impulse", "penalty"):
        for speed in (2.6, 3.6, 4.6, 5.6, 6.6):
            growth, _ = found[f"{solver} {speed:g} m/s 18 degrees growth"]
            assert (growth < 0) == (4.2924 < speed < 6.0243)


@pytest.fixture(scope="module")
def directly_solved():
    return {case: value for case, (value, _) in rows("direct", 64).items()}


def test_chain_with_a_direct_solve_is_accurate(directly_solved):
    # At least as accurate as many iterations; half the step, a quarter of the error.
    assert directly_solved["chain of 5 1 ms two rounds off"] <= directly_solved["chain of 5 1 ms 400 iterations off"]
    for pair in ("4 to 2", "2 to 1", "1 to 0.5"):
        assert directly_solved[f"chain of 5 {pair} ms error"] == pytest.approx(4, abs=0.3)


@pytest.mark.parametrize(
    ("last", "case", "rise"),
    [
        (1, "swinging 16.7 ms", 0.1), (1, "swinging 10 ms", 0.05), (1, "let go from level 5 ms", 1),
        (1, "let go from level 2 ms", 0.5), (100, "swinging 10 ms", 0.2), (1000, "swinging 10 ms", 0.2),
    ],
)  # fmt: skip
def test_energy_of_a_chain_with_a_direct_solve(directly_solved, last, case, rise):
    assert directly_solved[f"chain of 5 last {last} kg {case} rise"] <= rise  # % of m g L, in 60 s
    assert abs(directly_solved[f"chain of 5 last {last} kg {case} drift"]) <= 0.5


@pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler to compare with")
def test_direct_solve_is_fast(directly_solved):
    for case in ("chain of 5 two rounds", *(f"rope of {n} segments" for n in (10, 100, 1000, 10000))):
        assert directly_solved[f"{case} in C"] <= directly_solved[f"{case} goal"]
    for segments in (10, 100, 1000, 10000):
        assert directly_solved[f"rope of {segments} stretch"] < 1e-6


def test_direct_solve_costs_less_than_first_order_methods_of_the_same_error():
    found = {case: value for case, (value, _) in rows("energy", 64).items()}
    for start, step in (("swinging", "16.7 ms"), ("let go from level", "10 ms")):
        label = f"{start} verlet direct {step}"
        cheaper = [
            case for case, cost in found.items()
            if case.startswith((f"{start} articulated ", f"{start} impulse ")) and case.endswith(" cost")
            and "variational" not in case and cost <= found[f"{label} cost"]
            and found[case.replace(" cost", " error")] <= found[f"{label} error"]
        ]  # fmt: skip
        assert cheaper == []


def test_chains_at_random_keep_their_energy():
    # Steps of 1/240 s. Longer ones, and chains of 1:1000 or of a millimetre, gain energy or diverge (docs/limits.md).
    found = {case: value for case, (value, _) in rows("chains", 64).items()}
    for name in ("1 m", "0.1 m to 1:10"):
        case = f"direct current 4 rounds 4 substeps {name}"
        assert found[f"{case} gain in silence"] == found[f"{case} stopped or warned"] == 0
        assert found[f"{case} joint gap worst"] < 0.01


def test_heaps_and_stacks_at_random_stay_up():
    found = {case: value for case, (value, _) in rows("robustness", 64, "--classes", "stack,heap").items()}
    for kind in ("stack", "heap"):
        for solver in ("impulse", "articulated"):
            for what in ("gain in silence", "diverged or warned", "overlap at rest"):
                assert found[f"{kind} {solver} {what}"] == 0


def test_ragdolls_cost_no_more_than_in_mujoco():
    found = {case: value for case, (value, _) in rows("peers", 64).items()}
    ratios = {case: value for case, value in found.items() if case.endswith(" to MuJoCo")}
    if not ratios:
        pytest.skip("MuJoCo is not installed")
    for case in ("ragdoll", "100 ragdolls"):
        assert min(value for each, value in ratios.items() if each.startswith(f"{case} ")) <= 1
    assert ratios["ragdoll verlet to MuJoCo"] <= 3


def test_heaps_cost_a_known_part_of_other_engines():
    found = {case: value for case, (value, _) in rows("heaps", 64).items()}
    for case in ("pyramid of 120", "pyramid of 465"):
        assert found[f"{case} impulse 10 iterations sinking"] < 10
    ratios = {case: value for case, value in found.items() if case.endswith("impulse 10 iterations to peers")}
    if not ratios:
        pytest.skip("neither Rapier nor Box3D is installed")
    for case, value in ratios.items():
        assert value <= (4 if case.startswith("heap") else 10), case
