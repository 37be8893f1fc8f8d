"""Taichi is initialised once for the whole suite, in double precision: physics is tested to round-off."""

from scenes.device import initialise


def pytest_addoption(parser):
    parser.addoption("--device", choices=("cpu", "gpu"), default="cpu", help="where the kernels run")


def pytest_configure(config):
    initialise(config.getoption("--device"))

