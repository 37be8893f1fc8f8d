"""Snapshots of a particle system: the methods of ParticleSystem that make a State, and continue from one."""

from dataclasses import replace

import numpy as np

from pbd.core.kernels import read, write
from pbd.direct.tables import parts_state, write_parts_state
from pbd.direct.touch_tables import touch_state, write_touch_state
from pbd.state import State


def state(system):
    """A snapshot from which `set_state` continues bit for bit: a State."""
    direct = parts_state(system.arrays.direct) if len(system.direct.rows) else np.zeros((0, 0))
    touching = touch_state(system.arrays.touch) if system._counts.touching else np.zeros((0, 0))
    tangled = read(system.arrays.implicit.tangled).T if system.particles.solids else np.zeros((0, 0))
    changed = {"touching": touching, "torn": system._tearing.state(), "tangled": tangled}
    changed |= {name: each.state() for name, each in system._plastic.items()}
    return State(**system._values.state(), **system.clock.state(), direct=direct, **changed)


def set_state(system, state):
    """Continue from a snapshot of a system with as many particles and worlds. Args: state: a State."""
    if not isinstance(state, State):
        raise TypeError(f"state is {type(state).__name__}: expected a pbd.State")
    # Everything is checked before anything is changed.
    values, clock = system._values.checked(state), system.clock.checked(state)
    flowed = {name: each.checked(name, getattr(state, name)) for name, each in system._plastic.items() if len(each)}
    system._search_due = True
    options = replace(system.options, dt=clock["dt"], substeps=clock["substeps"])
    before = system._values.mobile()
    for name, value in values.items():
        system._values.write(name, value)
    if len(system.direct.rows) and (system._values.mobile() != before).any():
        system._order_direct()
    if len(system.direct.rows):
        write_parts_state(system.arrays.direct, state.direct)
    if system._counts.touching:
        write_touch_state(system.arrays.touch, state.touching)
    if system.particles.solids:
        tangled = system.arrays.implicit.tangled
        same = np.shape(state.tangled) == tangled.shape[::-1]
        write(tangled, np.asarray(state.tangled).T if same else np.zeros(tangled.shape))
    if len(system._tearing):
        system._tearing.restore(state.torn)
        system._leave_out_torn()
    for name, numbers in flowed.items():
        system._plastic[name].restore(numbers)
    system.clock.restore(**clock)
    system.options = options
