"""Models from MJCF files, MuJoCo's XML format. MuJoCo's own parser compiles the file; this reads the compiled model.

    MJCF                          Model
    body                          body with MuJoCo's mass, centre and inertia; without joints it is part of its parent
    one joint                     hinge, slider or ball, with armature; none for a free joint
    two hinges at right angles    universal, without armature or actuators
    three hinges at right angles  ball, likewise; the hinge closest to the limb's direction gives the twist
    other joints of one body      chain of joints with light bodies between, each with LINK of the mass and inertia
    actuator of a joint           motor (mjcf_actuators.py)
    contype, conaffinity          group, mask: one bit for each pair of values in the file
    exclude, parent and child     pairs of bodies that never collide
    groups 0 to 2 of geoms, rgba  what is drawn (mjcf_visuals.py)
    equality                      ball, fixed joint or gear (mjcf_equalities.py)
    gravcomp                      gravity_scale
    mocap body                    kinematic body that stands still

Joint positions are relative to the starting pose: qpos0 or a keyframe, or the nearest end of a joint's range.

Source: MuJoCo documentation, XML reference and Computation. The parser is an extra: `pip install 'verletlab[mjcf]'`.
"""

import warnings
from contextlib import contextmanager
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from pbd.core.extras import load_extra
from pbd.core.messages import clipped, shown
from pbd.core.validate import boolean, file_path, finite_number, one_line, one_of
from rigid.build.mjcf_actuators import add_to_joints, joint_actuators, motor_of
from rigid.build.mjcf_equalities import add_equality
from rigid.build.mjcf_joints import BALL, FREE, HINGE, SLIDE, add_joint, grouped, joint_of
from rigid.build.mjcf_left_out import left_out
from rigid.build.mjcf_placing import checked_pose, place
from rigid.build.mjcf_shapes import ELLIPSOID, contact_bits, shapes_of, surface_of
from rigid.build.mjcf_visuals import add_visuals, geom_visuals, without_missing_meshes
from rigid.mass import MassProperties, combined
from rigid.model import Model
from rigid.names import GROUND

LINK = 1 / 50  # part of the mass in each light body of a chain: small, but not so light that solvers converge slowly
MOST_LINK = 0.1  # a body may have six joints, with five such bodies between


def load_mjcf(
    path, model=None, *, name=None, position=(0.0, 0.0, 0.0), rotation=(1.0, 0.0, 0.0, 0.0), merge=None, link_mass=LINK,
    keyframe=None, decompose=False, rolling=False, visuals=True
):  # fmt: skip
    """Add the bodies and joints of an MJCF file to a model.

    Args:
        path: of the file.
        model: a rigid.Model; None for a new one with the file's gravity.
        name: prefix of all names, followed by "/", to load a file more than once; None for none.
        position, rotation: of the file's origin in the world (3,) [m], (w, x, y, z). They place all that the file has,
            its ground, too.
        merge: whether two or three hinges at right angles become one universal or ball joint, without armature and
            actuators. False keeps each joint, with light bodies between. None: where neither is lost.
        link_mass: the part of a body's mass and inertia in each light body before it. Less is more exact, but iterative
            solvers converge more slowly; for "articulated" 1e-6 is fine.
        keyframe: name or index of the keyframe with the starting pose, velocities and controls; None for the pose
            qpos0 at rest, with controls of zero.
        decompose: whether a mesh becomes several convex parts, by CoACD, and not its convex hull.
        rolling: whether geoms with condim 4 and 6 resist spinning and rolling, which "verlet" and "penalty" cannot.
        visuals: whether to read what is drawn of bodies into `model.visuals`; otherwise the shapes of bodies are drawn.

    Returns: the model. Motors have the names of their joints.

    Warns: UserWarning, once, with everything that is left out or approximated, and with the bodies whose mass is part
    of another.

    Raises: FileNotFoundError for a missing file; ValueError for a file that MuJoCo's parser rejects, with its message,
    for an unknown keyframe, and for a name that is taken; ModuleNotFoundError if MuJoCo is not installed, or CoACD for
    decompose=True.

    Limitations: friction coefficients at a contact are the geometric mean of both geoms', not the larger one. Excluding
    a body from contacts excludes the bodies welded to it, too. Equality constraints and joint limits are hard.
    Textures, sites, cameras and lights are left out without a warning.
    """
    check_options(model, name=name, merge=merge, link_mass=link_mass, decompose=decompose, rolling=rolling,
                  visuals=visuals)  # fmt: skip
    pose, missing = checked_pose(position, rotation), []
    with parser_warnings() as ignored:
        compiled = compiled_mjcf(path, missing)
    return add_compiled(compiled, path, model, pose=pose, name=name, merge=merge, link_mass=link_mass,
                        keyframe=keyframe, decompose=decompose, rolling=rolling, visuals=None if visuals else {},
                        notes={"left out": missing, "MuJoCo's parser": ignored})  # fmt: skip


def check_options(model, *, name, link_mass, decompose, visuals, merge=None, rolling=False):
    """Raise TypeError or ValueError for wrong options, see load_mjcf."""
    if model is not None and not isinstance(model, Model):
        raise TypeError(f"model is {shown(model)}: expected a rigid.Model, or None")
    if name is not None:
        one_line("name", name)
    if merge is not None:
        boolean("merge", merge)
    if not 0.0 < finite_number("link_mass", link_mass) <= MOST_LINK:
        raise ValueError(f"link_mass is {shown(link_mass)}: expected a number above 0, and at most {MOST_LINK:g}")
    boolean("decompose", decompose)
    boolean("rolling", rolling)
    boolean("visuals", visuals)


@contextmanager
def parser_warnings():
    """Collect warnings of MuJoCo's parser in a list, which otherwise are printed."""
    mujoco, said = load_extra("mujoco", "mjcf"), []
    mujoco.set_mju_user_warning(lambda text: said.append(" ".join(text.split())))
    try:
        yield said
    finally:
        mujoco.set_mju_user_warning(None)


def compiled_mjcf(path, missing=None):
    """MuJoCo's mjModel of a file. Args: path; missing: a list that gets words for the visual meshes that are missing.

    Raises: see load_mjcf.
    """
    mujoco = load_extra("mujoco", "mjcf")
    path = file_path("path", path, "an MJCF file")
    if not path.is_file():
        raise FileNotFoundError(f"no file {clipped(path)}: expected an MJCF file")
    expected = f"{clipped(path, 50)}: expected an MJCF file"
    if is_urdf(path):
        raise ValueError(f"{expected}, found a URDF file; did you mean load_urdf?")
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        found = without_missing_meshes(path)
        if found is None:
            raise ValueError(f"{expected}, but MuJoCo's parser says: {clipped(error)}") from error
        compiled, words = found
        if missing is not None:
            missing.append(words)
        return compiled


def is_urdf(path):
    """Whether the root of an XML file is that of a robot."""
    try:
        return next(ElementTree.iterparse(path, events=("start",)))[1].tag == "robot"
    except (ElementTree.ParseError, OSError):
        return False  # MuJoCo's parser says what is wrong


def add_compiled(compiled, path, model, *, pose, motors=None, visuals=None, notes=None, **options):
    """Add a compiled model to a Model, and warn of what is left out.

    Args: compiled: an mjModel; path: of its file; pose: see `checked_pose`; model, options: see load_mjcf; motors:
    {joint in the file: Motor} in place of its actuators; None for these; visuals: see Reader; notes: {heading: list of
    strings} for the warning.

    Returns: the model.
    """
    apply_flags(compiled)
    place(compiled, *pose)
    add_to_joints(compiled)
    reader = Reader(compiled, motors=motors, visuals=visuals, **options)
    model = Model(gravity=compiled.opt.gravity) if model is None else model
    with model.transaction():
        reader.add_to(model)
    found = {"left out": left_out(reader), "approximated": reader.approximated, "welded": reader.welded}
    said = {what: [*found.get(what, []), *(notes or {}).get(what, [])] for what in (*found, "MuJoCo's parser")}
    said = [f"{what}: {'; '.join(each)}" for what, each in said.items() if each]
    if said:
        warnings.warn(f"{path}: {'. '.join(said)}", UserWarning, stacklevel=3)
    return model


def apply_flags(compiled):
    """Remove from a compiled model what its flags disable: gravity, contacts, limits, springs and so on."""
    import mujoco

    m, flags = compiled, mujoco.mjtDisableBit
    for flag, arrays in (
        (flags.mjDSBL_GRAVITY, (m.opt.gravity,)), (flags.mjDSBL_CONTACT, (m.geom_contype, m.geom_conaffinity)),
        (flags.mjDSBL_LIMIT, (m.jnt_limited,)), (flags.mjDSBL_EQUALITY, (m.eq_active0,)),
        (flags.mjDSBL_SPRING, (m.jnt_stiffness,)), (flags.mjDSBL_DAMPER, (m.dof_damping,)),
        (flags.mjDSBL_FRICTIONLOSS, (m.dof_frictionloss,)),
        (flags.mjDSBL_ACTUATION, (m.actuator_gainprm, m.actuator_biasprm)),
        (flags.mjDSBL_CLAMPCTRL, (m.actuator_ctrllimited,)),
    ):  # fmt: skip
        for array in arrays if m.opt.disableflags & flag else ():
            array[:] = 0
    off = m.opt.disableactuator >> np.clip(m.actuator_group, 0, 30) & 1 > 0
    m.actuator_gainprm[off], m.actuator_biasprm[off] = 0, 0


@dataclass(frozen=True, eq=False)
class Still:
    """Path of a body that does not move. Args: position (3,) [m], rotation (w, x, y, z)."""

    position: np.ndarray
    rotation: np.ndarray

    def __call__(self, time):
        """Position and rotation. Args: time: any."""
        return self.position, self.rotation


class Reader:
    """Reader of one compiled model.

    Args: compiled: an mjModel; visuals: {body of it: list of arguments of Model.add_visual, in the body's frame}, None
    for those of the geoms; others: see load_mjcf and `add_compiled`.

    Attributes: data: its mjData in the starting pose; approximated, welded: what the warning says, lists of strings.
    """

    def __init__(self, compiled, *, name=None, merge=None, link_mass=LINK, keyframe=None, decompose=False,
                 rolling=False, motors=None, visuals=None):  # fmt: skip
        import mujoco

        m = self.compiled = compiled
        self.data, self.prefix, self.merge = mujoco.MjData(m), name, merge
        self.link_mass, self.decompose, self.motors = link_mass, decompose, motors
        self.bits, self.rolling = contact_bits(m), rolling
        self.collide = bool(m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)  # parents with children
        self.approximated, self.missed, self.ellipsoids = [], [], []  # the last two are labels of geoms
        self.welded, self.light, self.loose = [], [], []  # words for the warning; the last are actuators left out
        self.joints, self.equalities = {}, 0  # {index in the file: index in the Model} of single joints; how many added
        if keyframe is not None:
            mujoco.mj_resetDataKeyframe(m, self.data, self.keyframe(keyframe))
        for j in np.flatnonzero(m.jnt_limited):
            place = m.jnt_qposadr[j]
            if m.jnt_type[j] in (SLIDE, HINGE):
                start = np.clip(self.data.qpos[place], *m.jnt_range[j])
                if start != self.data.qpos[place]:
                    self.approximated.append(f"{self.label('joint', j)} starts at {start:g}, the end of its range")
                self.data.qpos[place] = start
        mujoco.mj_kinematics(m, self.data)
        mujoco.mj_comPos(m, self.data)
        mujoco.mj_comVel(m, self.data)
        self.visuals = geom_visuals(m) if visuals is None else visuals
        if motors is None:
            self.motors = self.motors_of_actuators()

    def keyframe(self, keyframe):
        """Index of a keyframe. Args: its name or index."""
        names = [self.compiled.key(k).name for k in range(self.compiled.nkey)]
        if isinstance(keyframe, str):
            return names.index(one_of("keyframe", keyframe, [name for name in names if name] or ["(none)"]))
        if not isinstance(keyframe, (int, np.integer)) or not 0 <= keyframe < len(names):
            raise ValueError(f"keyframe is {shown(keyframe)}: expected one of {len(names)}, by name or index")
        return int(keyframe)

    def motors_of_actuators(self):
        """{joint: Motor} of the file's actuators. Those of one joint become one motor if they have an exact sum."""
        m, found, added = self.compiled, {}, set()
        for j, actuators in joint_actuators(m).items():
            if m.jnt_type[j] in (SLIDE, HINGE):
                motor, used, said = motor_of(m, actuators, j, self.data.ctrl, self.data.qpos[m.jnt_qposadr[j]])
                if motor is not None:
                    found[j] = motor
                    added.update(used)
                    self.approximated += [f"actuator of {self.label('joint', j)}: {each}" for each in said]
                if len(used) > 1:
                    names = " and ".join(self.label("actuator", k) for k in used)
                    self.approximated.append(f"{names}, now one motor of {self.label('joint', j)}")
        self.loose = [self.label("actuator", k) for k in range(m.nu) if k not in added]
        return found

    def add_to(self, model):
        """Add bodies, shapes, joints and exclusions to a model."""
        m = self.compiled
        self.model, self.indices = model, {0: GROUND}
        for body in np.flatnonzero((m.body_weldid == 0) & (m.body_mass > 0)):
            self.welded.append(f"{self.label('body', body)} ({m.body_mass[body]:.3g} kg) to the ground")
        # Of bodies welded together the topmost one is added. Parents come before their children.
        for body in np.unique(m.body_weldid)[1:]:
            self.add_body(int(body))
        solid = np.flatnonzero(self.bits[:, 0])  # the other geoms are only visual
        self.slippery = (m.geom_condim[solid] == 1).all()
        if not self.slippery and np.count_nonzero(m.geom_condim[solid] == 1) > 1:
            self.approximated.append("geoms with condim 1, which have friction at each other")
        for geom in solid:
            self.add_geom(int(geom))
        add_visuals(self)
        self.equalities = sum(add_equality(self, k) for k in range(m.neq))
        for signature in m.exclude_signature:
            pair = self.index_of(int(signature) >> 16), self.index_of(int(signature) & 0xFFFF)
            if pair[0] != pair[1]:
                model.exclude_contact(*pair)
        if self.light:
            light = f"light bodies between joints, with {self.link_mass:.2g} of the mass each"
            self.approximated.append(f"{light} ({', '.join(self.light)})")
        if self.ellipsoids:
            self.approximated.append(f"ellipsoids replaced by convex hulls ({', '.join(self.ellipsoids)})")

    def name_of(self, kind, index):
        """Name of a body, joint or geom in the Model, or None."""
        name = getattr(self.compiled, kind)(int(index)).name
        return f"{self.prefix}/{name}" if name and self.prefix else name or None

    def label(self, kind, index):
        """Name of a part of the file in the warning."""
        return self.name_of(kind, index) or f"{kind} {int(index)}"

    def index_of(self, body):
        """Index in the Model of a body of the compiled model."""
        return self.indices[int(self.compiled.body_weldid[body])]

    def add_body(self, body):
        """Add a body with the bodies welded to it, and its joints."""
        m, data, name = self.compiled, self.data, self.name_of("body", body)
        if m.body_mocapid[body] >= 0:
            at = Still(data.xpos[body].copy(), data.xquat[body].copy())
            self.indices[body] = self.model.add_body(position=at.position, rotation=at.rotation, path=at, name=name)
            self.approximated.append(f"mocap body {self.label('body', body)}, a kinematic body that stands still")
            return
        parts = []
        for k in np.flatnonzero(m.body_weldid == body):
            if k != body and m.body_mass[k] > 0:
                self.welded.append(f"{self.label('body', k)} ({m.body_mass[k]:.3g} kg) to {self.label('body', body)}")
            R = data.ximat[k].reshape(3, 3)
            parts.append(MassProperties(float(m.body_mass[k]), data.xipos[k], R * m.body_inertia[k] @ R.T))
        whole, R = combined(parts), data.xmat[body].reshape(3, 3)
        inertia = R.T @ whole.inertia @ R
        first, last = int(m.body_jntadr[body]), int(m.body_jntadr[body] + m.body_jntnum[body])
        movable = [j for j in range(first, last) if m.jnt_type[j] != FREE]
        motors = [self.motors.get(j) for j in movable]
        groups = grouped([joint_of(m, data, j, self.name_of("joint", j), motor) for j, motor in zip(movable, motors)],
                         self.merge)  # fmt: skip
        moving = [self.motion(m.body_parentid[body], whole.centre)]  # before and after each joint
        for j in range(first, last):
            moving.append(moving[-1] + self.motion_along(j, whole.centre))

        scale = self.gravity_scale(body)

        def part(share, name, joints):
            velocity, spin = np.split(moving[joints], 2)
            return self.model.add_body(
                mass=share * whole.mass, inertia=share * (inertia + inertia.T) / 2, position=whole.centre,
                rotation=data.xquat[body], velocity=velocity, angular_velocity=spin, name=name, gravity_scale=scale,
            )  # fmt: skip

        ancestor = parent = self.index_of(m.body_parentid[body])
        for k, group in enumerate(groups[:-1]):
            label = group[0].name
            link_name = f"{label} link" if label else name and f"{name} link {k}"
            link = part(self.link_mass, link_name, k + 1)
            self.approximated += add_joint(self.model, parent, link, group, self.collide)
            parent = link
        between = max(len(groups) - 1, 0)
        child = self.indices[body] = part(1 - between * self.link_mass, name, -1)
        if groups:
            self.approximated += add_joint(self.model, parent, child, groups[-1], self.collide)
        if len(groups) == len(movable):
            added = len(self.model.joints)
            self.joints |= dict(zip(movable, range(added - len(groups), added)))
        if between:
            if ancestor != GROUND and not self.collide:
                self.model.exclude_contact(ancestor, child)
            self.light.append(f"{between} of {self.label('body', body)}")

    def gravity_scale(self, body):
        """What part of gravity acts on a body with those welded to it: all of it without gravity compensation."""
        m = self.compiled
        welded = np.flatnonzero((m.body_weldid == body) & (m.body_mass > 0))
        lifted = m.body_gravcomp[welded]
        if np.ptp(lifted):
            who = f"{self.label('body', body)} and what is welded to it"
            self.approximated.append(f"gravity compensation of {who}, by their mean")
        return 1.0 - float(np.average(lifted, weights=m.body_mass[welded]))

    def motion(self, body, point):
        """Velocity and angular velocity (6,) of a body at a point of the world (3,) [m]."""
        spin, velocity = np.split(self.data.cvel[body], 2)  # at the centre of mass of the tree
        arm = point - self.data.subtree_com[self.compiled.body_rootid[body]]
        return np.concatenate([velocity + np.cross(spin, arm), spin])

    def motion_along(self, j, point):
        """What the velocity of joint j adds to that of a point of its body, likewise."""
        found = np.zeros(6)
        first = self.compiled.jnt_dofadr[j]
        for k in range(first, first + {FREE: 6, BALL: 3}.get(int(self.compiled.jnt_type[j]), 1)):
            spin, velocity = np.split(self.data.cdof[k], 2)
            root = self.compiled.body_rootid[self.compiled.jnt_bodyid[j]]
            arm = point - self.data.subtree_com[root]
            found += self.data.qvel[k] * np.concatenate([velocity + np.cross(spin, arm), spin])
        return found

    def add_geom(self, geom):
        """Add a geom to its body, or to the ground."""
        m, label = self.compiled, self.label("geom", geom)
        try:
            shapes = shapes_of(m, self.data, geom, self.decompose)
        except ValueError:  # a mesh without volume
            shapes = []
        if not shapes:
            self.missed.append(label)
            return
        if m.geom_type[geom] == ELLIPSOID:
            self.ellipsoids.append(label)
        body, surface = self.index_of(m.geom_bodyid[geom]), surface_of(m, geom, self.slippery, self.rolling)
        group, mask = (int(bits) for bits in self.bits[geom])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of shapes far from their bodies: here that is what the file says
            for shape in shapes:
                self.model.add_shape(body, shape, **surface, group=group, mask=mask,
                                     visible=int(m.geom_bodyid[geom]) not in self.visuals)  # fmt: skip
