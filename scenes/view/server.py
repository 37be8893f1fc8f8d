"""The viewer: a session, and the page of a viser server that shows it."""

import contextlib
import math
import threading

from pbd.core.validate import one_of
from scenes.registry import available, find, load
from scenes.render.page.drawing import Drawing, GhostVisual, set_camera, set_stage
from scenes.render.page.quiet_viser import quiet
from scenes.view.debug_lines import DebugLines
from scenes.view.following import Follower, box_around
from scenes.view.grabs import Grabs
from scenes.view.history import History
from scenes.view.interpolation import FrameInterpolator
from scenes.view.panel import Panel
from scenes.view.pins import Pins
from scenes.view.pointer import Pointers
from scenes.view.recorder import Recorder
from scenes.view.serving import free_port, serve
from scenes.view.session import ENVIRONMENT, Session
from scenes.view.tearing import Tearing
from scenes.visuals import Camera, FollowingCamera
from scenes.visuals.colours import SOLVERS
from scenes.visuals.framing import needs_run, scene_camera
from scenes.visuals.tracks import with_own_memory

HOST, PORT = "127.0.0.1", 8080
FIRST_PICTURE = 60.0  # a page that draws nothing for this time is in the background [s]
GHOST_OPACITY = 0.35
LINES_OPACITY = 0.4  # of the scene while debug lines are shown


class Viewer:
    """A scene on a page. All browsers that open the page see the same scene.

    Args:
        scene: a Scene of the catalogue.
        solver, dt, options: as for scenes.Run.
        host, port: where the page is served; the next free port if this one is taken, 0 for any.
        note: a remark on the device for the page.
        origins: of other pages that may connect, such as "https://lab.example"; see scenes/view/guard.py.

    Attributes: session; server: the viser.ViserServer; address of the page; port; texts: of the scene's parameters,
        which the page may choose again, such as names of files.

    Raises: the errors of scenes.Run; OSError if the page cannot be served; ValueError for an origin that is none.
    """

    def __init__(self, scene, solver=None, dt=None, options=None, host=HOST, port=PORT, note="", origins=()):
        self.session = session = Session(scene, solver, dt, options, self.show, lambda _, span: self.grabs.update(span))
        self.note = f" ({note})" if note else ""
        words = available()[scene.name].choices if scene.parameters else {}
        self.texts = {text for name, text in scene.parameters.items() if isinstance(text, str) and name not in words}
        self.server, self.address = serve(host, free_port(host, port), origins)
        self.port = self.server.get_port()
        self.drawing_clients = set()  # identifiers of the browsers that have drawn the scene
        self.grabs, self.pins, self.tearing = Grabs(session), Pins(session), Tearing(session)
        self.lines, self.history, self.recorder = DebugLines(self.server), History(session), Recorder(self)
        # What the page shows now. `panel_key` says which scene and solvers the panel belongs to.
        self.shown_run = self.drawing = self.shown_ghost = self.ghost_drawing = self.panel_key = None
        self.shadows, self.follows, self.followed = True, True, None
        self.follower, self.followed_at = Follower(), session.clock()
        self.interpolator, self.ghost_interpolator = FrameInterpolator(), FrameInterpolator()
        self.pointers = Pointers(session, self.grabs, self.pins, self.tearing)
        try:
            self.panel = Panel(self)
            self.server.on_client_connect(self.connected)
            self.server.on_client_disconnect(self.disconnected)
            self.show(session)
        except BaseException:
            self.stop()
            raise

    def run(self):
        """Show the scene until `stop` or Ctrl-C."""
        try:
            self.session.loop()
        finally:
            self.stop()

    def stop(self):
        """Stop the session and the server."""
        if not self.recorder.stopped:
            self.recorder.stop()
            self.session.stop()
            with quiet():
                self.server.stop()

    # Browsers ---------------------------------------------------------------------------------------------------------

    async def connected(self, client):
        """A browser opened the page, which loads for a while. The scene waits until the browser has drawn it."""
        threading.Thread(target=self.wait_for_picture, args=(client,), daemon=True).start()

    def wait_for_picture(self, client):
        """Count a browser when it has drawn two pictures, because after the first one it prepares materials."""
        with contextlib.suppress(RuntimeError, TimeoutError):  # it closed the page, or shows another one
            for _ in range(2):
                client.get_render(9, 16, timeout=FIRST_PICTURE)
        self.session.request(lambda: self.count_clients(client.client_id))

    async def disconnected(self, client):
        """A browser closed the page, perhaps during a drag."""
        self.session.request(lambda: self.pointers.release(client.client_id))
        self.session.request(self.count_clients)

    def count_clients(self, *drawing):
        """Pause the scene if no browser shows it. Args: identifiers of browsers that show it now."""
        self.drawing_clients = self.drawing_clients.union(drawing) & set(self.server.get_clients())
        self.session.watched = bool(self.drawing_clients)

    # The picture ------------------------------------------------------------------------------------------------------

    def show(self, session):
        """Show the current state of the session."""
        self.rebuild()
        self.tearing.tear_overstretched()
        frame, shown = self.interpolator.frames(session.run, session.fraction)
        ghost_frame, shown_ghost = self.ghost_interpolator.frames(session.ghost, session.fraction)
        with self.server.atomic():
            self.drawing.visuals = self.tearing.visuals
            self.drawing.show(shown)
            if shown_ghost is not None:
                self.ghost_drawing.show(shown_ghost)
            self.lines.show(session.run, shown)
        self.pointers.bind(self.drawing.handles)
        self.move_cameras(shown)
        self.recorder.add(frame, ghost_frame)
        if self.history.add(frame, ghost_frame):
            self.panel.plots.show(self.history.columns())
        self.panel.show_status(now=session.compiling or not session.moving)

    def rebuild(self):
        """Rebuild the page if the session started another run."""
        session = self.session
        if session.ghost is not self.shown_ghost and self.ghost_drawing is not None:
            self.ghost_drawing.remove()
            self.ghost_drawing = None
        if session.ghost is not self.shown_ghost and session.ghost is not None:
            self.ghost_drawing = Drawing(self.server, self.ghost_visuals(session.ghost), "/ghost", GHOST_OPACITY)
        self.shown_ghost = session.ghost
        self.tearing.restore_if_restarted()
        if session.run is not self.shown_run:
            scene, before = session.run.scene, self.shown_run and self.shown_run.scene
            self.shown_run, self.followed = session.run, None
            if scene is not before:
                if self.drawing is not None:
                    self.drawing.remove()
                self.lines.clear()
                self.drawing = Drawing(self.server, self.tearing.visuals, opacity=self.opacity())
            if before is None or scene.name != before.name:
                set_stage(self.server, scene, self.shadows)
                self.reset_cameras()
        key = self.shown_run.scene.name, self.shown_run.solver, session.ghost and session.ghost.solver
        if key != self.panel_key:
            self.panel_key = key
            self.panel.rebuild()

    def opacity(self):
        """Opacity of the scene: translucent if debug lines are shown, otherwise None."""
        return LINES_OPACITY if self.lines.chosen else None

    def ghost_visuals(self, ghost):
        """Visuals of a ghost in the colour of its solver. Args: a Run, or None."""
        visuals = [] if ghost is None else with_own_memory(ghost.scene).visuals
        return [GhostVisual(visual, SOLVERS[ghost.solver]) for visual in visuals]

    # The camera -------------------------------------------------------------------------------------------------------

    def reset_cameras(self, client=None):
        """Move cameras to the camera of the scene. Args: client: whose camera; None for all."""
        run = self.session.run
        camera = scene_camera(run.scene, run.frame(velocities=False))
        self.followed, self.follower = None, Follower()
        set_camera(self.server.initial_camera, camera)
        for each in [client] if client is not None else self.server.get_clients().values():
            set_camera(each.camera, camera)

    def camera_of(self, client, frame):
        """The Camera of a browser; that of the scene if the browser is closed."""
        if client is None or client.client_id not in self.server.get_clients():
            return scene_camera(self.session.run.scene, frame)
        seen = client.camera
        return Camera(seen.position, seen.look_at, math.degrees(seen.fov))

    def can_follow(self):
        """Whether the camera of the scene follows a body, or what leaves the picture."""
        scene = self.session.run.scene
        return isinstance(scene.camera, FollowingCamera) or needs_run(scene)

    def move_cameras(self, frame):
        """Move all cameras with what the camera of the scene follows."""
        if not (self.can_follow() and self.follows):
            return
        if needs_run(self.session.run.scene):
            self.follow_scene()
            return
        target = scene_camera(self.session.run.scene, frame).target
        if self.followed is not None and (target != self.followed).any():
            for client in self.server.get_clients().values():
                # viser moves the point that the camera looks at, too.
                client.camera.position = client.camera.position + target - self.followed
        self.followed = target

    def follow_scene(self):
        """Move cameras after what leaves their pictures."""
        clients, before, self.followed_at = self.server.get_clients(), self.followed_at, self.session.clock()
        drawn = [each for each, _ in self.drawing.drawn.values()]
        cameras = {}
        for who, client in clients.items() if drawn else ():
            with contextlib.suppress(ValueError):  # it looks straight down
                cameras[who] = self.camera_of(client, None), client.camera.aspect
        if not cameras:
            return
        for who, camera in self.follower.follow(cameras, box_around(drawn), self.followed_at - before).items():
            with clients[who].atomic():
                clients[who].camera.position, clients[who].camera.look_at = camera.position, camera.target

    # Requests of the panel, on the session's thread -------------------------------------------------------------------

    def play_or_pause(self):
        """Pause, or play; after an error, play from the beginning."""
        session = self.session
        session.playing = session.failed or not session.playing
        if session.failed:
            session.reset()
        self.panel.show_status(now=True)

    def single_step(self):
        """Make one step, and pause."""
        self.session.playing = False
        self.session.step()
        self.panel.show_status(now=True)

    def reset(self):
        """Start the run again."""
        self.session.reset()

    def load(self, name):
        """Show another scene of the catalogue."""
        self.session.choose(load(name))

    def set_parameter(self, name, value):
        """Change a parameter of the scene, and start again."""
        session = self.session
        scene, *rest = session.choice
        entry = find(scene.name)
        defaults, choices = entry.parameters, entry.choices_of(name, self.texts)
        if choices is not None:
            one_of(name, value, choices)
        given = {key: each for key, each in {**scene.parameters, name: value}.items() if each != defaults[key]}
        session.start((load(scene.name, **given), *rest), session.settings)

    def choose_solver(self, name):
        """Start the scene with another solver. The environment stays as the user set it."""
        session = self.session
        ghost = session.ghost.solver if session.ghost and session.ghost.solver != name else None
        environment = {key: value for key, value in session.settings.items() if key in ENVIRONMENT}
        session.start((session.run.scene, name, None, {}, ghost), environment)

    def choose_ghost(self, name):
        """Start again, with a second solver or without one. Args: name, or None."""
        session = self.session
        session.start((*session.choice[:4], name), session.settings)

    def set_tear_limit(self, limit):
        """Change when sticks tear. Args: limit: length in rest lengths, None for never."""
        self.tearing.limit = limit

    def set_shadows(self, shadows):
        """Show or hide shadows."""
        self.shadows = shadows
        set_stage(self.server, self.session.run.scene, shadows)

    def set_follows(self, follows):
        """Follow the body that the camera of the scene follows, or not."""
        self.follows, self.followed = follows, None

    def choose_lines(self, name, shown):
        """Show or hide debug lines. Args: name: of LINES in debug_lines.py; shown."""
        (self.lines.chosen.add if shown else self.lines.chosen.discard)(name)
        self.drawing.set_opacity(self.opacity())
