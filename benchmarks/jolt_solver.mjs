// Steps of a model in Jolt, for jolt_solver.py: node jolt_solver.mjs FOLDER, with the folder of the package jolt-physics.
//
// The first line of standard input is the model, as JSON. Each later one is a command, and gets a line of JSON:
//     step N    make N steps; the processor time that they took [s]
//     state     position [m] and rotation (w, x, y, z) of each body, a list of seven numbers each

import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const FIXED = 0, MOVING = 1;  // layers of the ground and of bodies
const FASTEST = 1e4;  // [m/s, rad/s], above what models have; Jolt's own 47 rad/s would slow fast bodies down
const CONVEX_RADIUS = 0.05;  // Jolt's default [m] for boxes, but at most a tenth of the shortest half edge

process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});
const file = pathToFileURL(join(process.argv[2], "dist", "jolt-physics.wasm-compat.js"));  // one thread
const Jolt = await (await import(file)).default({ print: console.error });

const vector = ([x, y, z]) => new Jolt.Vec3(x, y, z);
const point = ([x, y, z]) => new Jolt.RVec3(x, y, z);
const quaternion = ([w, x, y, z]) => new Jolt.Quat(x, y, z, w);

function makeWorld(gravity) {
  const pairs = new Jolt.ObjectLayerPairFilterTable(2);
  pairs.EnableCollision(FIXED, MOVING);
  pairs.EnableCollision(MOVING, MOVING);
  const layers = new Jolt.BroadPhaseLayerInterfaceTable(2, 2);
  for (const layer of [FIXED, MOVING]) layers.MapObjectToBroadPhaseLayer(layer, new Jolt.BroadPhaseLayer(layer));
  const settings = new Jolt.JoltSettings();
  settings.mObjectLayerPairFilter = pairs;
  settings.mBroadPhaseLayerInterface = layers;
  settings.mObjectVsBroadPhaseLayerFilter = new Jolt.ObjectVsBroadPhaseLayerFilterTable(layers, 2, pairs, 2);
  const world = new Jolt.JoltInterface(settings);
  world.GetPhysicsSystem().SetGravity(vector(gravity));
  return world;
}

// Settings of a shape. Its size: a sphere's radius; a capsule's half length and radius; a box's half edges [m].
function shapeSettings(kind, size) {
  if (kind === "sphere") return new Jolt.SphereShapeSettings(size[0]);
  if (kind === "box") return new Jolt.BoxShapeSettings(vector(size), Math.min(CONVEX_RADIUS, 0.1 * Math.min(...size)));
  const upright = quaternion([Math.SQRT1_2, Math.SQRT1_2, 0, 0]);  // Jolt's capsules lie along y, ours along z
  return new Jolt.RotatedTranslatedShapeSettings(vector([0, 0, 0]), upright, new Jolt.CapsuleShapeSettings(...size));
}

function addGround(bodies, { normal, constant, friction, restitution }) {
  const shape = new Jolt.PlaneShapeSettings(new Jolt.Plane(vector(normal), constant)).Create().Get();
  const still = [point([0, 0, 0]), quaternion([1, 0, 0, 0]), Jolt.EMotionType_Static, FIXED];
  const settings = new Jolt.BodyCreationSettings(shape, ...still);
  Object.assign(settings, { mFriction: friction, mRestitution: restitution });
  bodies.CreateAndAddBody(settings, Jolt.EActivation_DontActivate);
}

function addBody(bodies, body, index, filter) {
  const shape = shapeSettings(body.kind, body.size).Create();
  if (shape.HasError()) throw new Error(shape.GetError().c_str());
  const pose = [point(body.position), quaternion(body.rotation)];
  const settings = new Jolt.BodyCreationSettings(shape.Get(), ...pose, Jolt.EMotionType_Dynamic, MOVING);
  Object.assign(settings, {
    mLinearVelocity: vector(body.velocity), mAngularVelocity: vector(body.angular_velocity),
    mFriction: body.friction, mRestitution: body.restitution, mAllowSleeping: false, mLinearDamping: 0,
    mAngularDamping: 0, mMaxLinearVelocity: FASTEST, mMaxAngularVelocity: FASTEST,
    mOverrideMassProperties: Jolt.EOverrideMassProperties_MassAndInertiaProvided,
    mCollisionGroup: new Jolt.CollisionGroup(filter, 0, index),
  });
  const mass = settings.mMassPropertiesOverride;
  mass.mMass = body.mass;
  body.inertia.forEach((column, k) => mass.mInertia.SetColumn3(k, vector(column)));
  const made = bodies.CreateBody(settings);
  bodies.AddBody(made.GetID(), Jolt.EActivation_Activate);
  return made;
}

function makeJoint({ kind, anchors, axes, normals, limits, swing }, parent, child) {
  const ball = kind === "ball";
  const settings = ball ? new Jolt.SwingTwistConstraintSettings() : new Jolt.HingeConstraintSettings();
  const names = ball ? ["mPosition", "mTwistAxis", "mPlaneAxis"] : ["mPoint", "mHingeAxis", "mNormalAxis"];
  settings.mSpace = Jolt.EConstraintSpace_LocalToBodyCOM;
  for (const k of [0, 1]) {
    settings[names[0] + (k + 1)] = point(anchors[k]);
    settings[names[1] + (k + 1)] = vector(axes[k]);
    settings[names[2] + (k + 1)] = vector(normals[k]);
  }
  if (ball) {
    settings.mNormalHalfConeAngle = settings.mPlaneHalfConeAngle = swing;
    [settings.mTwistMinAngle, settings.mTwistMaxAngle] = limits;
  } else [settings.mLimitsMin, settings.mLimitsMax] = limits;
  return settings.Create(parent, child);
}

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const model = JSON.parse((await lines.next()).value);
const world = makeWorld(model.gravity), system = world.GetPhysicsSystem(), interface_ = system.GetBodyInterface();
const filter = new Jolt.GroupFilterTable(model.bodies.length);
for (const pair of model.exclusions) filter.DisableCollision(...pair);
for (const plane of model.ground) addGround(interface_, plane);
const bodies = model.bodies.map((body, index) => addBody(interface_, body, index, filter));
const ends = [...bodies, Jolt.JoltInterface.prototype.sGetFixedToWorldBody()];  // -1 is the ground
for (const joint of model.joints) system.AddConstraint(makeJoint(joint, ends.at(joint.parent), ends.at(joint.child)));
system.OptimizeBroadPhase();

function step(count) {
  const start = process.cpuUsage();
  for (let k = 0; k < count; k++) world.Step(model.dt, model.collision_steps);
  const { user, system } = process.cpuUsage(start);
  return 1e-6 * (user + system);
}

function pose(body) {
  const x = body.GetPosition(), position = [x.GetX(), x.GetY(), x.GetZ()];
  const q = body.GetRotation(), rotation = [q.GetW(), q.GetX(), q.GetY(), q.GetZ()];
  return [...position, ...rotation];
}

for await (const line of lines) {
  const [command, count] = line.split(" ");
  process.stdout.write(JSON.stringify(command === "step" ? step(Number(count)) : bodies.map(pose)) + "\n");
}
