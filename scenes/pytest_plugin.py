"""Plugin for pytest with the fixture `compare_solvers`; pytest loads it if verletlab is installed.

    def test_crane(compare_solvers):
        compare_solvers(crane(), ["verlet", "impulse"], probe="hook", tolerance=0.01, duration=2.0)

The fixture calls scenes.testing.assert_solvers_agree. The plot of a failure is named after the test. It goes to the
test's temporary directory, or to DIR beside the test's file if the configuration has `compare_solvers_folder = DIR`.
The report of the failure names its path.

Every start of pytest imports this file, so it imports the rest of verletlab only when the fixture is called.
"""

import pytest

FOLDER = "compare_solvers_folder"


def pytest_addoption(parser):
    """Add the folder for plots to pytest's configuration."""
    parser.addini(FOLDER, "folder for plots of compare_solvers, relative to the test's file (default: tmp_path)",
                  default="")  # fmt: skip


@pytest.fixture
def compare_solvers(request):
    """Function with the arguments of scenes.testing.assert_solvers_agree; returns a Comparison."""

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
