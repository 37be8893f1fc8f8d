"""MuJoCo, as a reference from outside. It is the extra `mjcf`; without it, `mujoco` is None."""

import numpy as np

import pbd
from pbd.core.results import Energy
from rigid.build.mjcf_writer import mjcf_text
from rigid.state import State

try:
    import mujoco
except ImportError:
    mujoco = None

INTEGRATORS = ("Euler", "implicitfast", "RK4")


class MujocoSolver:
    """A model in MuJoCo, with the methods of a solver that benchmarks use.

    Args: model: a rigid.Model, see save_mjcf; dt [s]; integrator: one of INTEGRATORS; contacts: whether bodies collide;
    limit_time: time constant of joint limits [s], at least 2 dt, None for MuJoCo's 0.02 s.

    Raises: ValueError for a model that MJCF cannot hold.
    """

    def __init__(self, model, dt, integrator, contacts=False, limit_time=None):
        mujoco.set_mju_user_warning(lambda words: None)  # by default they go to a file; `step` raises an error
        self.model, self.dt = model, dt
        self._compiled = compiled = mujoco.MjModel.from_xml_string(mjcf_text(model))
        compiled.opt.timestep = dt
        compiled.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        compiled.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        if limit_time is not None:
            compiled.jnt_solref[:] = limit_time, 1.0  # of critical damping
        if not contacts:
            compiled.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self._data = mujoco.MjData(compiled)
        if compiled.nkey:
            mujoco.mj_resetDataKeyframe(compiled, self._data, 0)
        self._order = [compiled.body(body.name).id for body in model.bodies]

    @property
    def time(self):
        """Time since the start [s]."""
        return self._data.time

    def step(self, count=1):
        """Make steps of dt. Args: count. Raises: pbd.Diverged where MuJoCo warns of a bad state."""
        mujoco.mj_step(self._compiled, self._data, nstep=count)
        for name in ("QPOS", "QVEL", "QACC"):
            warning = self._data.warning[getattr(mujoco.mjtWarning, f"mjWARN_BAD{name}")]
            if warning.number:
                raise pbd.Diverged(0, round(self.time / self.dt), int(warning.lastinfo), self.time, "degree of freedom")

    def energy(self):
        """Kinetic and potential energy at the end of the last step: a pbd.Energy [J]."""
        mujoco.mj_forward(self._compiled, self._data)
        mujoco.mj_energyPos(self._compiled, self._data)
        mujoco.mj_energyVel(self._compiled, self._data)
        potential, kinetic = self._data.energy
        return Energy(kinetic, potential, kinetic + potential)

    def state(self):
        """Poses of the bodies: a rigid.State without velocities."""
        mujoco.mj_kinematics(self._compiled, self._data)
        position, rotation = np.array(self._data.xpos[self._order]), np.array(self._data.xquat[self._order])
        return State(position, rotation, np.zeros_like(position), np.zeros_like(position), self.time)

    def digest(self):
        """Sixteen hexadecimal digits that change with any bit of the poses."""
        return self.state().digest()
