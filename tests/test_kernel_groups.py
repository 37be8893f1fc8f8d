"""Groups of tests that share kernels: see tests/kernel_groups.py."""

from pathlib import Path

import kernel_groups

ROOT = Path(__file__).parents[1]


def test_kernel_groups_name_files_and_scenes_that_exist():
    files = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    scenes = {path.stem for path in (ROOT / "scenes" / "catalogue").glob("*.py")}
    assert set(kernel_groups.LONGEST) <= files
    assert all((ROOT / path).exists() for path in kernel_groups.FILES)
    assert {case.split("-")[0] for case in kernel_groups.CASES} <= scenes
    assert {name.split(".")[0] for name in kernel_groups.COMMANDS} <= scenes


def test_tests_with_equal_kernels_share_a_group():
    group = kernel_groups.group_of
    golden = "tests/golden/test_golden.py::test_a_short_run_has_its_golden_digest"
    catalogue = "tests/scenes/catalogue/test_catalogue.py::test_a_scene_runs_and_is_seen"
    assert group(f"{golden}[stack-impulse]") == group(f"{catalogue}[arch-impulse]")
    assert group(f"{golden}[stack-verlet]") == group("tests/rigid/solvers/verlet/test_verlet_contacts.py::test_rest")
    assert group(f"{golden}[five_link_chain-penalty]") == group("tests/agreement/test_agreement.py::test_any[x]")
    assert group("tests/pbd/test_state.py::test_any") == "tests/pbd/test_state.py"
