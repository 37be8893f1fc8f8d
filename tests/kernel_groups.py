"""Which tests share kernels, so that each kernel is compiled by one worker of pytest-xdist.

On a clean checkout two thirds of the suite's time is Taichi compiling kernels. A kernel is compiled for the features of
a scene and solver. If tests with the same features ran in two workers, both would compile it. So `group_of` puts such
tests into one group, and tests/conftest.py sends a group to one worker. A test without an entry here is in the group of
its file.

A wrong entry makes the suite slower, never wrong. A new test needs no entry.

Measured with three files of one group (test_linkages.py, test_wheels.py, test_joint_forces.py), in processor time: on a
clean checkout 82 s in processes of their own and 56 s in one, with kernels on disk 25 s and 19 s. A process starts in
3 s. So groups save time where all kernels have to be compiled, as in .ci/run, and none later.
"""

# Files whose tests take longest. They start first, so that none of them starts last.
LONGEST = (
    "test_determinism.py",
    "test_agreement.py",
    "test_rod_joints.py",
    "test_impulse_contacts.py",
    "test_verlet_contacts.py",
    "test_penalty_determinism.py",
    "test_penalty_contacts.py",
    "test_articulated_determinism.py",
    "test_verlet_joints.py",
    "test_cli_process.py",
    "test_view_in_browser.py",
    "test_modes.py",
    "test_bodies_on_surfaces.py",
    "test_processes.py",
    "test_iterations.py",
    "test_relative_rotation.py",
    "test_documents.py",
    "test_catalogue.py",
    "test_energy.py",
    "test_bad_input.py",
    "test_contacts.py",
    "test_render_picture.py",
    "test_narrow_phase.py",
)

# Solvers on rows: "impulse", "articulated" and "penalty". Their kernels depend on the pairs of shapes that can touch.
ROW_SOLVERS = ("impulse", "articulated", "penalty")

# Scenes without contacts have one kernel per solver on rows, which most tests of joints use too.
JOINT_ROWS = "kernels of joint rows"
SCENES_WITHOUT_CONTACTS = (
    "aircraft_roll", "dzhanibekov", "five_link_chain", "four_bar", "peaucellier_lipkin", "pendulum", "penalty_joints",
    "slider_crank", "top",
)  # fmt: skip

# Rods have one kernel for each kind of joint, with lanes or without, which these files and scenes share.
RODS = "tests/pbd/constraints/test_rod_joints.py"

# Scenes in which the same pairs of shapes can touch.
SCENES_WITH_EQUAL_PAIRS = (
    ("arch", "card_house", "domino_spiral", "dominoes", "pyramid", "slope", "stack"),
    ("chain", "newtons_cradle"),
    ("door", "high_mass_ratio", "wrecking_ball"),
    ("scout_robot", "trailer"),
)

# Cases of tests/scenes/catalogue and tests/golden, "scene" (solver "verlet") or "scene-solver".
CASES = {
    "dominoes": "tests/rigid/solvers/verlet/test_verlet_contacts.py",
    "stack": "tests/rigid/solvers/verlet/test_verlet_contacts.py",
    "ragdoll_pile": "ragdolls",
    "ragdoll_stairs": "ragdolls",
    "gripper-impulse": "contacts of impulse",
    "manipulator-impulse": "contacts of impulse",
    "bump": "tests/pbd/collision/test_elements.py",
    "five_link_chain": JOINT_ROWS,
    "jelly": "tests/pbd/test_held_contacts.py",
    **dict.fromkeys(("cable", "coil_spring", "hair", "plant", "wire_bending"), RODS),
    "tetrahedron": JOINT_ROWS,
    **{f"{scene}-{solver}": JOINT_ROWS for scene in SCENES_WITHOUT_CONTACTS for solver in ROW_SOLVERS},
    **{
        f"{scene}-{solver}": f"{scenes[0]}-{solver}"
        for scenes in SCENES_WITH_EQUAL_PAIRS
        for scene in scenes
        for solver in ROW_SOLVERS
    },
}

# Files in tests/rigid/solvers/{impulse,articulated,penalty}, by the last word of their names.
WORDS_WITH_CONTACTS = ("contacts", "determinism", "sleep")
WORDS_WITHOUT_CONTACTS = (
    "chain", "drives", "dynamics", "joints", "limits", "motors", "refusals", "rows", "variational",
)  # fmt: skip

# Contacts of each solver in models of `described.model_of`. With "articulated" their only joint has no rows.
CONTACTS = {
    "impulse": "contacts of impulse",
    "articulated": "arch-articulated",
    "penalty": "contacts of penalty",
    "verlet": "tests/rigid/solvers/verlet/test_verlet_contacts.py",
}

# Tests with such models in files of the group JOINT_ROWS. Their cases begin with the solver.
TESTS_WITH_CONTACTS = (
    "test_contacts_carry_the_share_of_the_weight", "test_force_slides_a_box_against_friction",
    "test_tray_carries_a_box_by_friction", "test_tray_pushes_a_box",
    "test_upper_body_gains_the_momentum_that_its_joint_passes_on",
)  # fmt: skip

# Commands of the documents, by their scenes.
COMMANDS = {
    "drape": "drape", "drape.npz": "drape", "five_link_chain": JOINT_ROWS, "pyramid": "arch-impulse",
    "soft_body": "soft_body",
}  # fmt: skip

# Other files that use kernels of a group above.
FILES = {
    "tests/agreement/test_agreement.py": JOINT_ROWS,
    "tests/benchmarks/test_bench_rods.py": RODS,
    "tests/course/test_chapter_rods.py": RODS,
    "tests/pbd/build/test_hair.py": RODS,
    "tests/pbd/build/test_joined_rods.py": RODS,
    "tests/pbd/build/test_plant_of_rods.py": RODS,
    "tests/pbd/build/test_rope.py": RODS,
    "tests/pbd/test_rods_that_tear.py": RODS,
    "tests/pbd/test_strands.py": RODS,
    "tests/pbd/test_yielding.py": RODS,
    "tests/rigid/solvers/verlet/test_clamped_rods.py": RODS,
    "tests/scenes/catalogue/test_hair_scene.py": RODS,
    "tests/scenes/catalogue/test_rod_scenes.py": RODS,
    "tests/pbd/direct/test_direct_bad_input.py": "tests/pbd/direct/test_direct_solve.py",
    "tests/pbd/direct/test_parts.py": "tests/pbd/direct/test_direct_solve.py",
    "tests/pbd/test_gases.py": "tests/pbd/constraints/test_membranes.py",
    "tests/rigid/solvers/verlet/test_bodies_on_surfaces.py": "surfaces",
    "tests/rigid/solvers/verlet/test_verlet.py": JOINT_ROWS,
    "tests/rigid/solvers/verlet/test_verlet_direct.py": JOINT_ROWS,
    "tests/rigid/solvers/verlet/test_verlet_parts.py": JOINT_ROWS,
    "tests/rigid/solvers/verlet/test_verlet_cloth.py": "tests/rigid/solvers/verlet/test_verlet_contacts.py",
    "tests/rigid/solvers/verlet/test_direct_limits.py": "tests/rigid/solvers/verlet/test_verlet_joints.py",
    "tests/rigid/solvers/verlet/test_verlet_rows.py": "tests/rigid/solvers/verlet/test_verlet_joints.py",
    "tests/rigid/collision/test_broad_phase.py": "tests/rigid/collision/test_narrow_phase.py",
    "tests/rigid/collision/test_internal_edges.py": "tests/rigid/collision/test_narrow_phase.py",
    "tests/rigid/collision/test_manifold.py": "tests/rigid/collision/test_narrow_phase.py",
    "tests/rigid/constraints/test_joint_forces.py": JOINT_ROWS,
    "tests/rigid/solvers/test_body_grabs.py": JOINT_ROWS,
    "tests/rigid/solvers/test_breaking.py": JOINT_ROWS,
    "tests/rigid/solvers/test_compliant_motors.py": JOINT_ROWS,
    "tests/rigid/solvers/test_cylindrical_and_planar.py": JOINT_ROWS,
    "tests/rigid/solvers/test_external_forces.py": JOINT_ROWS,
    "tests/rigid/solvers/test_fast_spins.py": JOINT_ROWS,
    "tests/rigid/solvers/test_full_turns.py": JOINT_ROWS,
    "tests/rigid/solvers/test_gravity_scale.py": JOINT_ROWS,
    "tests/rigid/solvers/test_kinematic_bodies.py": JOINT_ROWS,
    "tests/rigid/solvers/test_passive_energy.py": JOINT_ROWS,
    "tests/rigid/solvers/test_restored_time.py": JOINT_ROWS,
    "tests/rigid/solvers/test_rotating_platforms.py": "arch-impulse",
    "tests/rigid/solvers/test_torque_motors.py": JOINT_ROWS,
    "tests/rigid/solvers/test_variational_spins.py": JOINT_ROWS,
    "tests/rigid/solvers/test_wheels.py": JOINT_ROWS,
    "tests/verification/test_aircraft.py": JOINT_ROWS,
    "tests/verification/test_bars_and_beams.py": "tests/pbd/constraints/test_solids.py",
    "tests/verification/test_rods.py": RODS,
    "tests/verification/test_plates.py": "tests/pbd/constraints/test_membranes.py",
    "tests/verification/test_door.py": JOINT_ROWS,
    "tests/verification/test_linkages.py": JOINT_ROWS,
    "tests/verification/test_gripper.py": "contacts of impulse",
    "tests/scenes/render/test_comparison_film.py": "tests/scenes/render/test_render_picture.py",
    "tests/benchmarks/test_bench_bicycle.py": JOINT_ROWS,
    "tests/benchmarks/test_bench_fabric.py": "tests/pbd/constraints/test_membranes.py",
    "tests/benchmarks/test_bench_heaps.py": "arch-impulse",
    "tests/scenes/visuals/test_framing.py": "arch-impulse",
    "tests/scenes/export/test_exported_meshes.py": "tests/scenes/simulate/test_recording.py",
    "tests/scenes/export/test_gltf.py": "tests/scenes/simulate/test_recording.py",
    "tests/scenes/export/test_usd.py": "tests/scenes/simulate/test_recording.py",
    "tests/scenes/simulate/test_interpolation.py": JOINT_ROWS,
    "tests/scenes/sweeps/test_shard.py": JOINT_ROWS,
    "tests/test_what_touches_what.py": "surfaces",
    "tests/scenes/catalogue/test_source_scenes.py": JOINT_ROWS,
    "tests/scenes/comparison/test_measure.py": JOINT_ROWS,
    "tests/scenes/comparison/test_compare.py": JOINT_ROWS,
    "tests/scenes/comparison/test_compare_files.py": JOINT_ROWS,
    "tests/scenes/comparison/test_tuning.py": JOINT_ROWS,
    "tests/scenes/test_full_disk.py": JOINT_ROWS,
    "tests/scenes/test_testing.py": JOINT_ROWS,
    "tests/test_processes.py": JOINT_ROWS,
}


def group_of(nodeid):
    """The group of a test. Args: nodeid: such as "tests/golden/test_golden.py::test_name[stack-impulse]"."""
    path, _, test = nodeid.partition("::")
    test, _, case = test.removesuffix("]").partition("[")
    folders = path.split("/")
    if path.startswith(("tests/scenes/catalogue/", "tests/golden/")) and case:
        scene = case.removesuffix("-whole").removesuffix("-verlet")
        return CASES.get(scene, scene)
    if path == "tests/test_commands.py":
        scenes = [COMMANDS[word] for word in case.split() if word in COMMANDS]
        return scenes[0] if scenes else "tests/scenes/cli/test_cli.py"
    if path == "tests/test_documents.py" or path.startswith("tests/gpu/"):
        return nodeid  # each example, and each case on a GPU, runs in a process of its own
    if path.startswith("tests/pbd/collision/surfaces/"):
        return "surfaces"
    if path.startswith(("tests/scenes/view/", "tests/scenes/render/page/")):
        return "viewer"
    if path == "tests/rigid/solvers/test_row_contacts.py" or test in TESTS_WITH_CONTACTS:
        return CONTACTS[case.split("-")[0]]
    if folders[:3] == ["tests", "rigid", "solvers"] and folders[3] in ROW_SOLVERS:
        word = folders[-1].removesuffix(".py").rpartition("_")[2]
        if word in WORDS_WITHOUT_CONTACTS:
            return JOINT_ROWS
        if word in WORDS_WITH_CONTACTS:
            return f"contacts of {folders[3]}"
    return FILES.get(path, path)
