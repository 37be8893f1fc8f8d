"""`Recording.to_xarray`: every number of a recording under a name, with dimensions, coordinates and units."""

import json
import pickle
import sys

import numpy as np
import pytest

from scenes.simulate.recording import Recording


@pytest.fixture
def recording():
    """A Recording of random numbers: five frames, three particles, a collider, two bodies."""
    rng = np.random.default_rng(0)
    shapes = (3, 3), (3, 3), (1, 7), (2, 7), (2, 6), (3,)
    arrays = [rng.normal(size=(5, *shape)) for shape in shapes]
    about = {"scene": "any", "parameters": {"count": "7"}, "solver": "verlet", "settings": {"dt": 0.01}, "digest": "ab"}
    return Recording(about, 0.1 * np.arange(5.0), *arrays)


def test_all_numbers_are_in_the_dataset_bit_for_bit(recording):
    data = recording.to_xarray()
    names = {
        "positions": ("particle_position",), "velocities": ("particle_velocity",),
        "poses": ("collider_position", "collider_rotation"), "body_poses": ("body_position", "body_rotation"),
        "body_velocities": ("body_velocity", "body_angular_velocity"), "times": ("time",), "energy": ("energy",),
    }  # fmt: skip
    assert set(names) == set(Recording.ARRAYS)
    assert {name for parts in names.values() for name in parts} == {*data.data_vars, "time"}
    for name, parts in names.items():
        joined = np.concatenate([np.atleast_1d(data[part].values) for part in parts], axis=-1)
        assert np.array_equal(joined, getattr(recording, name)), name


def test_a_dataset_survives_a_table_and_a_copy_on_disk(recording, tmp_path):
    xarray = pytest.importorskip("xarray")
    data = recording.to_xarray()
    table = xarray.Dataset.from_dataframe(data[["particle_position"]].to_dataframe())
    assert np.array_equal(table.particle_position.transpose(*data.particle_position.dims), recording.positions)
    (tmp_path / "data").write_bytes(pickle.dumps(data))
    read = pickle.loads((tmp_path / "data").read_bytes())
    assert read.identical(data)
    assert np.array_equal(read.particle_position.values, recording.positions)


def test_dimensions_coordinates_and_units(recording):
    data = recording.to_xarray()
    assert data.sizes == {"time": 5, "particle": 3, "collider": 1, "body": 2, "axis": 3, "component": 4, "kind": 3}
    assert all(data[name].attrs["units"] for name in (*data.data_vars, "time"))
    assert data.body_angular_velocity.units == "rad/s"
    height = data.particle_position.sel(axis="z", particle=1).sel(time=0.2, method="nearest")
    assert height == recording.positions[2, 1, 2]
    assert data.energy.sel(kind="total", time=0.0) == recording.energy[0, 2]
    assert data.body_rotation.sel(component="w", body=1).dims == ("time",)


def test_what_the_recording_is_about_becomes_attributes(recording):
    data = recording.to_xarray()
    assert (data.scene, data.solver, data.digest) == ("any", "verlet", "ab")
    assert json.loads(data.settings) == {"dt": 0.01}


def test_events_are_text_which_all_formats_of_files_can_hold(recording):
    event = {"time": 0.2, "kind": "tear", "world": 0, "members": (0, 1), "position": (0.0, 0.0, 1.0)}
    recording.about["events"] = [event]
    (found,) = json.loads(recording.to_xarray().events)
    assert found == {**event, "members": [0, 1], "position": [0.0, 0.0, 1.0]}


def test_missing_xarray_is_reported_with_its_installation(recording, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ModuleNotFoundError, match=r"xarray is not installed: pip install 'verletlab\[xarray\]'"):
        recording.to_xarray()
