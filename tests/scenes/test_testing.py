"""assert_solvers_agree and the fixture: they find and name a planted error."""

import matplotlib.image
import pytest

import rigid
import scenes
from scenes.comparison.results import Variant
from scenes.testing import assert_solvers_agree

pytest_plugins = ["pytester"]

g, STEP, DURATION = 9.81, 0.25e-3, 0.4
SETTINGS = {
    "verlet": {"dt": STEP, "direction": "start", "iterations": 100},
    "impulse": {"dt": STEP, "iterations": 200, "tolerance": 1e-10},
    "articulated": {"dt": STEP},
    "penalty": {"dt": STEP, "substeps": 8, "stiffness": 0.2 * (8 / STEP) ** 2, "damping": 0.2 * 8 / STEP},
}

# A rod of length l on a hinge at its end, released level, is never faster than θ̇ = sqrt(3 g/l) = 7.7 rad/s. The error
# of a first-order solver is at most h θ̇, so two solvers differ by at most twice that, 0.004 rad. The angle depends on
# t sqrt(g): 1 % of gravity changes it by 0.005 t θ̇, or 0.013 rad at the bottom, after 0.34 s (K(1/2) sqrt(2l/3g)).
TOLERANCE = 0.008  # [rad]


def pendulum(gravity=g):
    """A rod that falls from level about its end. It is thick so that "penalty" can have stiff rotations."""
    model = rigid.Model(gravity=(0, 0, -gravity))
    rod = model.add_box((0.5, 0.1, 0.1), mass=1.0, position=(0.25, 0, 1), name="rod")
    model.add_hinge(rigid.GROUND, rod, (0, 0, 1), (0, 1, 0), name="pin")
    settings = {solver: {**given, "contacts": False} for solver, given in SETTINGS.items()}
    return scenes.Scene(model=model, duration=DURATION, settings=settings, name="pendulum")


def test_solvers_agree():
    found = assert_solvers_agree(pendulum(), probe="angle", tolerance=TOLERANCE)
    assert [trace.label for trace in found.traces] == list(rigid.SOLVERS)
    assert all(trace.deviation["angle"].max() < TOLERANCE for trace in found.traces)


@pytest.mark.parametrize("wrong", ["verlet", "impulse", "articulated"])
def test_one_percent_more_gravity_is_found_and_named(wrong, tmp_path):
    label = f"{wrong}, heavier"
    others = [solver for solver in ("verlet", "impulse", "articulated") if solver != wrong]
    planted = [Variant(wrong, label, pendulum(1.01 * g)), *others]
    with pytest.raises(AssertionError) as caught:
        assert_solvers_agree(pendulum(), planted, "angle", tolerance=TOLERANCE, folder=tmp_path / "plots")
    lines = str(caught.value).splitlines()
    assert lines[0] == f"solvers disagree in scene 'pendulum', tolerance 0.008, reference {others[0]}:"
    assert lines[1].startswith(f"  {label} deviates, first at 0.")
    assert " in pin angle, most at 0." in lines[1]
    assert lines[2].startswith(f"agreeing: {others[1]} (within ")
    assert len(lines) == 4
    assert lines[3] == f"plot: {caught.value.plot}"
    assert caught.value.plot.parent == tmp_path / "plots"
    assert matplotlib.image.imread(caught.value.plot).std() > 0.05  # not empty


def test_reference_can_be_chosen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    planted = [Variant("impulse", "heavier", pendulum(1.01 * g)), "verlet", "articulated"]
    with pytest.raises(AssertionError, match=r"reference heavier:\n  verlet deviates.*\n  articulated deviates"):
        assert_solvers_agree(pendulum(), planted, "pin", tolerance=TOLERANCE, reference="heavier")
    assert [path.name for path in tmp_path.iterdir()] == ["pendulum-disagrees.png"]


def test_failed_and_unsupported_solvers_are_reported(leap, tmp_path):
    calm = Variant("verlet", "calm", scenes.load(leap, when=10))
    with pytest.raises(AssertionError, match=r"leaps failed: particle 0 .* stopped being finite in step 31") as caught:
        assert_solvers_agree(leap, [Variant("verlet", "leaps"), calm], tolerance=1.0, folder=tmp_path, name="a/b c")
    assert caught.value.plot == tmp_path / "a-b-c.png"
    far = Variant("verlet", "far", scenes.load(leap, far=3.0))
    with pytest.raises(AssertionError, match=r"far deviates, first at 0.5167 s by 3 m in particle 0, most"):
        assert_solvers_agree(leap, [calm, far], tolerance=1.0, folder=tmp_path)
    scene = pendulum()
    scene.unsupported["penalty"] = "it is too soft"
    with pytest.raises(AssertionError, match=r"penalty cannot run the scene: solver 'penalty' .* it is too soft"):
        assert_solvers_agree(scene, ["impulse", "penalty"], tolerance=1.0, folder=tmp_path)
    with pytest.raises(ValueError, match=r"no probe called 'pim' in scene pendulum; did you mean 'pin'\?"):
        assert_solvers_agree(scene, ["impulse"], "pim", tolerance=1.0)


# The plugin ----------------------------------------------------------------------------------------------------------


CASE = """
    import pbd
    import scenes

    def falling(gravity):
        particles = pbd.Particles(gravity=(0, 0, -gravity))
        particles.add_particle((0, 0, 0))
        return scenes.Scene(particles, duration=1.0, settings={"verlet": {"dt": 0.02}}, name="fall")

    def test_it(compare_solvers):
        compare_solvers(falling(9), ["verlet", scenes.Variant("verlet", "other", falling(9.9))], tolerance=0.1)
"""


@pytest.fixture
def process(pytester, request, monkeypatch):
    """A pytester whose processes import this checkout, and load no plugin by themselves."""
    monkeypatch.setenv("PYTHONPATH", str(request.config.rootpath))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return pytester


@pytest.mark.slow
def test_fixture_reports_the_solver_and_the_plot(process):
    process.makepyfile(CASE)
    process.makeini("[pytest]\ncompare_solvers_folder = plots")
    result = process.runpytest_subprocess("-p", "scenes.pytest_plugin")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "E       AssertionError: solvers disagree in scene 'fall', tolerance 0.1, reference verlet:",
    # 0.9 t²/2 exceeds 0.1 after 0.471 s, and is 0.45 after 1 s.
        "E         other deviates, first at 0.48 s by 0.10* m in particle 0, most at 1 s by 0.45 m",
        "*- Captured compare_solvers call -*",
        f"plot: {process.path}/plots/test_it.png",
    ])  # fmt: skip
    result.stdout.no_fnmatch_line("*scenes/testing.py*")  # the traceback ends in the test
    assert (process.path / "plots" / "test_it.png").exists()


def test_plugin_imports_nothing_until_it_is_used(process):
    result = process.runpython_c(
        "import sys, scenes.pytest_plugin; print(sorted({'taichi', 'numpy', 'matplotlib', 'rigid'} & set(sys.modules)))"
    )
    assert result.stdout.str() == "[]"
