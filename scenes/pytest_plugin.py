"""A plugin for pytest, which finds it where verletlab is installed: the fixture `compare_solvers`.

    def test_the_crane_swings_alike(compare_solvers):
        compare_solvers(crane(), ["verlet", "impulse"], probe="hook", tolerance=0.01, duration=2.0)

It calls scenes.testing.assert_solvers_agree. The plot of a failure goes to the test's temporary directory; or, with
`compare_solvers_folder = DIR` in the configuration, to DIR beside the test's file. It bears the test's name, and the
report of the failure tells its path.

Every start of pytest imports this file: it imports nothing itself, and starts Taichi when the fixture is called.
"""

import pytest

FOLDER = "compare_solvers_folder"


def pytest_addoption(parser):
    """The folder for plots, in the configuration."""
    parser.addini(FOLDER, "where compare_solvers saves plots, from the test's file (default: tmp_path)", default="")


@pytest.fixture
def compare_solvers(request):
    """A function as scenes.testing.assert_solvers_agree; it returns the Comparison."""

    def compare(*scene_and_solvers, **given):
        __tracebackhide__ = True
        from scenes.testing import assert_solvers_agree

        folder = request.config.getini(FOLDER)
        own = {
            "folder": request.path.parent / folder if folder else request.getfixturevalue("tmp_path"),
            "name": request.node.name,
        }
        try:
            return assert_solvers_agree(*scene_and_solvers, **{**own, **given})
        except AssertionError as error:
            if getattr(error, "plot", None):
                request.node.add_report_section("call", "compare_solvers", f"plot: {error.plot}")
            raise

    return compare
