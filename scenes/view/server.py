"""The viewer: a session, and the page that shows it, which is viser's."""

import math

from scenes.registry import find, load
from scenes.render.page.drawing import Drawing, Ghost, aim, camera_of, set_stage
from scenes.render.page.quiet import quiet
from scenes.view.films import Films
from scenes.view.grabs import Grabs
from scenes.view.history import History
from scenes.view.interpolation import Shown
from scenes.view.overlays import Overlays
from scenes.view.panel import Panel
from scenes.view.pins import Pins
from scenes.view.pointer import Pointers
from scenes.view.serving import free_port, serve
from scenes.view.session import SURROUNDING, Session
from scenes.view.tear import Tearing
from scenes.visuals import Camera, FollowingCamera
from scenes.visuals.colours import SOLVERS

HOST, PORT = "127.0.0.1", 8080
GHOST, GLASS = 0.35, 0.4  # opacity of a ghost, and of what lines are to be seen in


class Viewer:
    """A scene on a page that browsers see, all of them the same.

    Arguments: scene: a Scene of the catalogue; solver, dt, options: as of a scenes.Run; host, port: where the page is,
    the next free port where that is taken; 0 for any; note: what the page says of the device. Attributes: session;
    server: viser's; address: of the page; port.

    Errors: those of a Run; OSError where nothing can be served.
    """

    def __init__(self, scene, solver=None, dt=None, options=None, host=HOST, port=PORT, note=""):
        self.session = session = Session(scene, solver, dt, options, self.show, lambda _, span: self.grabs.move(span))
        self.note = f" ({note})" if note else ""
        self.server, self.address = serve(host, free_port(host, port))
        self.port = self.server.get_port()
        self.grabs, self.pins, self.tearing = Grabs(session), Pins(session), Tearing(session)
        self.overlays, self.history, self.films = Overlays(self.server), History(session), Films(self)
        self.running = self.drawing = self.ghost = self.ghost_drawing = self.key = None
        self.shadows, self.follows, self.followed = True, True, None
        self.shown, self.ghost_shown = Shown(), Shown()
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
        """Show it until `stop`, or Ctrl-C."""
        try:
            self.session.loop()
        finally:
            self.stop()

    def stop(self):
        """Stop the session and the server."""
        if not self.films.stopped:
            self.films.stopped = True
            self.session.stop()
            with quiet():
                self.server.stop()

    # Who looks on -----------------------------------------------------------------------------------------------------

    async def connected(self, client):
        """Somebody opened the page."""
        self.session.ask(self.count_watchers)

    async def disconnected(self, client):
        """Somebody closed it, perhaps in the middle of a drag."""
        self.session.ask(lambda: self.pointers.release(client.client_id))
        self.session.ask(self.count_watchers)

    def count_watchers(self):
        """Move only while somebody looks on."""
        self.session.watched = bool(self.server.get_clients())

    # The picture ------------------------------------------------------------------------------------------------------

    def show(self, session):
        """Show the scene as it is."""
        self.renew()
        self.tearing.give_way()
        frame, shown = self.shown.frames(session.running, session.part)
        beside, ghost = self.ghost_shown.frames(session.ghost, session.part)
        with self.server.atomic():
            self.drawing.visuals = self.tearing.visuals
            self.drawing.show(shown)
            if ghost is not None:
                self.ghost_drawing.show(ghost)
            self.overlays.show(session.running, shown)
        self.pointers.bind(self.drawing.handles)
        self.follow(shown)
        self.films.add(frame, beside)
        if self.history.add(frame, beside):
            self.panel.plots.show(self.history.columns())
        self.panel.tell(now=session.fresh)

    def renew(self):
        """Make the page anew where something else is run."""
        session = self.session
        if session.ghost is not self.ghost and self.ghost_drawing is not None:
            self.ghost_drawing.remove()
            self.ghost_drawing = None
        if session.ghost is not self.ghost and session.ghost is not None:
            self.ghost_drawing = Drawing(self.server, self.ghost_visuals(session.ghost), "/ghost", GHOST)
        self.ghost = session.ghost
        self.tearing.renew()
        if session.running is not self.running:
            scene, before = session.running.scene, self.running and self.running.scene
            self.running, self.followed = session.running, None
            if scene is not before:
                if self.drawing is not None:
                    self.drawing.remove()
                self.overlays.clear()
                self.drawing = Drawing(self.server, self.tearing.visuals, opacity=self.opacity())
            if before is None or scene.name != before.name:
                set_stage(self.server, scene, self.shadows)
                self.aim_at_scene()
        key = self.running.scene.name, self.running.solver, session.ghost and session.ghost.solver
        if key != self.key:
            self.key = key
            self.panel.renew()

    def opacity(self):
        """Of the scene: as glass where lines in it are to be seen."""
        return GLASS if self.overlays.chosen else None

    def ghost_visuals(self, ghost):
        """Visuals of a ghost, in its solver's colour. Arguments: a Run, or None."""
        return [] if ghost is None else [Ghost(visual, SOLVERS[ghost.solver]) for visual in ghost.scene.visuals]

    # The camera -------------------------------------------------------------------------------------------------------

    def aim_at_scene(self, client=None):
        """Put the camera where the scene's is. Arguments: client: whose, None for all."""
        running = self.session.running
        camera = camera_of(running.scene, running.frame(velocities=False))
        self.followed = None
        aim(self.server.initial_camera, camera)
        for each in [client] if client is not None else self.server.get_clients().values():
            aim(each.camera, camera)

    def camera_of(self, client, frame):
        """The Camera of somebody's page; the scene's, once that is closed."""
        if client is None or client.client_id not in self.server.get_clients():
            return camera_of(self.session.running.scene, frame)
        seen = client.camera
        return Camera(seen.position, seen.look_at, math.degrees(seen.fov))

    def can_follow(self):
        """Whether the scene's camera follows something."""
        return isinstance(self.session.running.scene.camera, FollowingCamera)

    def follow(self, frame):
        """Take all cameras along with what the scene's follows."""
        if not (self.can_follow() and self.follows):
            return
        target = camera_of(self.session.running.scene, frame).target
        if self.followed is not None and (target != self.followed).any():
            for client in self.server.get_clients().values():
                client.camera.position = client.camera.position + target - self.followed  # and what it looks at
        self.followed = target

    # What the panel asks for, on the session's thread ----------------------------------------------------------------

    def play_or_pause(self):
        """Play where it stands, from the beginning where it went wrong; pause where it plays."""
        session = self.session
        session.playing = session.failed or not session.playing
        if session.failed:
            session.reset()
        self.panel.tell(now=True)

    def single_step(self):
        """Make one step, and stand."""
        self.session.playing = False
        self.session.advance()
        self.panel.tell(now=True)

    def reset(self):
        """From the beginning."""
        self.session.reset()

    def load(self, name):
        """Run another scene."""
        self.session.choose(load(name))

    def set_parameter(self, name, value):
        """Make the scene anew with a parameter of it."""
        session = self.session
        scene, *rest = session.chosen
        defaults = find(scene.name).parameters
        given = {key: each for key, each in {**scene.parameters, name: value}.items() if each != defaults[key]}
        session.start((load(scene.name, **given), *rest), session.settings)

    def choose_solver(self, name):
        """Run the scene with another solver."""
        session = self.session
        ghost = session.ghost.solver if session.ghost and session.ghost.solver != name else None
        air = {key: value for key, value in session.settings.items() if key in SURROUNDING}
        session.start((session.running.scene, name, None, {}, ghost), air)

    def choose_ghost(self, name):
        """Run a second solver beside it, or none, from the beginning."""
        session = self.session
        session.start((*session.chosen[:4], name), session.settings)

    def tear_at(self, factor):
        """Let sticks tear where they are so many times their length, or not: None."""
        self.tearing.limit = factor

    def set_shadows(self, wanted):
        """Draw shadows, or none."""
        self.shadows = wanted
        set_stage(self.server, self.session.running.scene, wanted)

    def set_follows(self, wanted):
        """Go along with what the scene's camera follows, or stay."""
        self.follows, self.followed = wanted, None

    def choose_lines(self, name, wanted):
        """Draw lines, or not."""
        (self.overlays.chosen.add if wanted else self.overlays.chosen.discard)(name)
        self.drawing.fade(self.opacity())
