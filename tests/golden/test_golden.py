"""Golden test: the digests of short runs are those of tests/golden/digests.json. golden.py explains and writes them."""

import json

import golden
import numpy as np
import pytest
from marks import slow

EXPECTED = json.loads(golden.FILE.read_text())
HERE, ELSEWHERE = golden.processor(), "another processor"

# In this process, in 64 bits, on as many threads as there are: every solver, joints, contacts, cloth.
FAST = [
    ("flag", "verlet"),
    *(("five_link_chain", solver) for solver in ("verlet", "impulse", "articulated", "penalty")),
    ("stack", "impulse"),
]

# In a process of their own, in 32 bits, on one thread.
FAST_32_BITS = [("tetrahedron", "verlet"), ("pendulum", "impulse")]


def assert_as_expected(found, bits):
    lines = golden.differences(EXPECTED[str(bits)], found, bits, EXPECTED["processor"])
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize(
    ("scene", "solver"),
    [
        *(pytest.param(*pair, id="-".join(pair)) for pair in FAST),
        *(slow("stack", solver, id=f"stack-{solver}") for solver in ("verlet", "articulated", "penalty")),
    ],
)
def test_a_short_run_has_its_golden_digest(scene, solver):
    assert_as_expected({f"{scene} {solver}": golden.measure(scene, solver)}, 64)


@pytest.mark.slow
def test_short_runs_in_32_bits_have_their_golden_digests():
    (found,) = golden.run_combinations([(32, 1)], FAST_32_BITS)
    assert_as_expected(found, 32)


@pytest.mark.slow
@pytest.mark.parametrize(("bits", "threads"), golden.COMBINATIONS)
def test_all_runs_have_their_golden_digests(bits, threads):
    (found,) = golden.run_combinations([(bits, threads)], golden.pairs())
    assert_as_expected(found, bits)


def test_the_file_names_every_scene_and_solver():
    pairs = {f"{scene} {solver}" for scene, solver in golden.pairs()}
    assert set(EXPECTED["64"]) == set(EXPECTED["32"]) == pairs


@pytest.mark.parametrize("written_on", [HERE, ELSEWHERE])
def test_a_changed_result_is_found(written_on):
    entry = EXPECTED["64"]["flag verlet"]
    changed = {"digest": "0" * 16, "numbers": [1.0001 * entry["numbers"][0], *entry["numbers"][1:]]}
    assert golden.differences(EXPECTED["64"], {"flag verlet": entry}, 64, written_on) == []
    (line,) = golden.differences(EXPECTED["64"], {"flag verlet": changed}, 64, written_on)
    assert line.startswith("flag verlet in 64 bits: ")


def test_runs_with_other_bits_within_the_tolerance_are_named(monkeypatch, capsys):
    found = {f"pendulum {solver}": EXPECTED["64"][f"pendulum {solver}"] for solver in ("verlet", "impulse", "penalty")}
    changed = found | {pair: {**found[pair], "digest": "0" * 16} for pair in ("pendulum verlet", "pendulum penalty")}
    for runs, printed in (
        (found, "3 runs in 2 combinations: all equal"),
        (changed, "3 runs in 2 combinations: 1 of 3 in bits, 2 within tolerance (pendulum verlet, pendulum penalty)"),
    ):
        monkeypatch.setattr(golden, "pairs", lambda names=(): [pair.split() for pair in found])
        monkeypatch.setattr(golden, "run_combinations", lambda *_args, runs=runs, **_options: [runs, runs])
        monkeypatch.setattr(golden, "processor", lambda: ELSEWHERE)
        monkeypatch.setattr(golden.sys, "argv", ["golden.py", "check", "--bits", "64"])
        assert golden.main() == 0
        assert capsys.readouterr().out.splitlines()[-1] == printed


def test_the_message_for_a_new_run_names_the_command_for_its_scene():
    (line,) = golden.differences({}, {"flag verlet": EXPECTED["64"]["flag verlet"]}, 64, HERE)
    assert line == "flag verlet in 64 bits: not in digests.json; run `python tests/golden/golden.py write flag`"


def test_a_spread_is_the_measure_on_another_processor_alone():
    entry = EXPECTED["64"]["flag verlet"]
    spread = [1e-4, *np.zeros(len(entry["numbers"]) - 1)]
    golden_entry = {"flag verlet": {**entry, "spread": spread}}
    for moves, count in (((0.9e-3, 0), 0), ((1.1e-3, 0), 1), ((0, 0.9e-3), 1)):
        numbers = [entry["numbers"][0] + moves[0], entry["numbers"][1] + moves[1], *entry["numbers"][2:]]
        changed = {"flag verlet": {"digest": "0" * 16, "numbers": numbers}}
        assert len(golden.differences(golden_entry, changed, 64, ELSEWHERE)) == count
        assert len(golden.differences(golden_entry, changed, 64, HERE)) == 1
        # An entry may name the processor that it was written on.
        named = {"flag verlet": {**golden_entry["flag verlet"], "processor": HERE}}
        assert len(golden.differences(named, changed, 64, ELSEWHERE)) == 1


def test_a_chain_amplifies_round_off_no_more_than_its_unstable_rest():
    # A pendulum of length l leaves its upper rest as exp(t √(g/l)). No part of a chain of rods of 0.5 m is faster than
    # a rod that turns about its middle, l = L/6: exp(0.3 s √(9.8/0.083)) = 26. Coordinates have 100 round-offs of 3 m,
    # and the energy of 5 kg changes by m g times that.
    numbers = golden.measure("five_link_chain", "impulse")["numbers"]
    spread = golden.spread("five_link_chain", "impulse", 64, numbers)
    assert 0 < max(spread) < 26 * 100 * 3 * 2**-52 * 5 * 9.81


@pytest.mark.slow
@pytest.mark.parametrize("pair", [name for name, entry in EXPECTED["64"].items() if "spread" in entry])
def test_other_round_off_stays_within_the_tolerances_of_the_file(pair):
    name, solver = pair.split()
    expected, found = EXPECTED["64"][pair], golden.measure(name, solver)
    spread = golden.spread(name, solver, 64, found["numbers"], seed=1)
    assert (spread <= golden.tolerances(expected, 64)).all()
