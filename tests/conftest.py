"""Taichi is initialised once for the whole suite, in double precision: physics is tested to round-off.

Where no kernel is on disk yet, two thirds of the suite's time are Taichi's, compiling. So each kernel is compiled by
one of pytest-xdist's workers, as far as can be, and with one pass less than elsewhere.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a worker has one core: more threads would wait for one another

import pytest
from taichi.lang import impl

from scenes.simulate.device import initialise

# What takes longest, first, so that no worker is left with one of them when the others are done.
FIRST = (
    "test_determinism.py",
    "test_agreement.py",
    "test_impulse_contacts.py",
    "test_verlet_contacts.py",
    "test_penalty_determinism.py",
    "test_penalty_contacts.py",
    "test_articulated_determinism.py",
    "test_verlet_joints.py",
    "test_cli_process.py",
    "test_view_in_browser.py",
    "test_wheel.py",
    "test_iterations.py",
    "test_relative_rotation.py",
    "test_axes_frames.py",
    "test_documents.py",
    "test_catalogue.py",
    "test_energy.py",
    "test_bad_input.py",
    "test_contacts.py",
    "test_render_picture.py",
    "test_narrow_phase.py",
    "test_folding.py",
)

# Scenes of the catalogue that share kernels: boxes on the ground, with tests of contacts; ragdolls among boxes, with
# one another. Every other scene has kernels of its own with "verlet"; with the others, scenes share them where the same
# kinds of shape meet.
TOGETHER = {
    "dominoes": "tests/rigid/solvers/verlet/test_verlet_contacts.py",
    "stack": "tests/rigid/solvers/verlet/test_verlet_contacts.py",
    "ragdoll_pile": "ragdolls",
    "ragdoll_stairs": "ragdolls",
}
ALIKE = (
    ("arch", "card_house", "domino_spiral", "dominoes", "pyramid", "slope", "stack"),
    ("chain", "newtons_cradle"),
    ("door", "high_mass_ratio"),
    ("scout_robot", "trailer"),
)
for solver in ("impulse", "penalty", "articulated"):
    TOGETHER |= {f"{scene}-{solver}": f"{scenes[0]}-{solver}" for scenes in ALIKE for scene in scenes}
LINKED = ("five_link_chain", "four_bar", "peaucellier_lipkin", "slider_crank")
SWINGING = ("dzhanibekov", "pendulum", "top", *LINKED)
for solver in ("impulse", "penalty", "articulated"):
    TOGETHER |= {f"{scene}-{solver}": "rows of joints" for scene in SWINGING}
TOGETHER |= {f"{scene}-impulse": "impulse of contacts" for scene in ("gripper", "manipulator")}

# Files on solvers of rows, by the ends of their names.
ROW_FILES = {f"{name}.py": "contacts" for name in ("contacts", "determinism", "sleep")}
JOINTS = ("chain", "drives", "dynamics", "joints", "motors", "refusals", "rows")
ROW_FILES |= {f"{name}.py": "joints" for name in JOINTS}

# Commands of the documents, by their scenes.
COMMANDS = {
    "drape": "drape", "five_link_chain": "rows of joints", "pyramid": "arch-impulse", "soft_body": "soft_body",
}  # fmt: skip

# And others that share those kernels.
OTHER_FILES = {
    "tests/agreement/test_agreement.py": "rows of joints",
    "tests/verification/test_linkages.py": "rows of joints",
    "tests/verification/test_gripper.py": "impulse of contacts",
    "tests/scenes/render/test_render_several.py": "tests/scenes/render/test_render_picture.py",
    "tests/scenes/comparison/test_measure.py": "rows of joints",
    "tests/scenes/comparison/test_compare.py": "rows of joints",
    "tests/scenes/comparison/test_compare_files.py": "rows of joints",
    "tests/scenes/test_testing.py": "rows of joints",
    "tests/scenes/comparison/test_tuning.py": "rows of joints",
    "tests/scenes/view/test_view_grabs.py": "rows of joints",
    "tests/scenes/view/test_view_page.py": "rows of joints",
    "tests/scenes/view/test_view_session.py": "rows of joints",
}


def pytest_addoption(parser):
    parser.addoption("--device", choices=("cpu", "gpu"), default="cpu", help="where the kernels run")


def pytest_configure(config):
    initialise(config.getoption("--device"))
    # Without Taichi's own search for common subexpressions, whose time grows with the square of a kernel: bodies in
    # contact compile in 6 to 9 s instead of 16 to 25, to run at three quarters of the speed and to the same bits.
    # test_determinism compares those with processes that have it, as the command line's and the benchmarks' have.
    impl.current_cfg().opt_level = 0


def pytest_collection_modifyitems(items):
    place = {name: k for k, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.name, len(FIRST)))


def group(nodeid):
    """What a test shares its kernels with: tests of one group go to one worker. Mostly those of a file."""
    path, case = nodeid.split("::")[0], nodeid.partition("[")[2].removesuffix("]")
    if path.endswith(("test_catalogue.py", "test_energy.py")):
        scene = case.removesuffix("-whole")
        return TOGETHER.get(scene, scene)
    if path.endswith("test_commands.py"):
        scenes = [COMMANDS[word] for word in case.split() if word in COMMANDS]
        return scenes[0] if scenes else "tests/scenes/cli/test_cli.py"
    if path in OTHER_FILES:
        return OTHER_FILES[path]
    if path.startswith(tuple(f"tests/rigid/solvers/{solver}/" for solver in ("impulse", "penalty", "articulated"))):
        folder, file = path.split("/")[3:]
        kind = ROW_FILES.get(file.rpartition("_")[2])
        return {"joints": "rows of joints", "contacts": f"{folder} of contacts"}.get(kind, path)
    if path.startswith(("tests/scenes/view/", "tests/scenes/render/page/")):
        return "viewer"
    return nodeid if path.endswith("test_documents.py") else path


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `--dist loadscope`, groups as above. (xdist's own, `--dist loadgroup`, has no effect with pytest 9.)"""
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group(nodeid)

    return Scheduling(config, log)
