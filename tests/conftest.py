"""Taichi is initialised once for the whole suite, in double precision: physics is tested to round-off."""

import pytest
import taichi as ti


def pytest_addoption(parser):
    parser.addoption("--device", choices=("cpu", "gpu"), default="cpu", help="where the kernels run")


def pytest_configure(config):
    ti.init(arch=getattr(ti, config.getoption("--device")), default_fp=ti.f64, log_level=ti.ERROR)


@pytest.fixture(scope="session")
def device(request):
    return request.config.getoption("--device")
