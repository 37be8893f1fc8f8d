"""The panel beside the picture: menus, sliders, buttons and messages.

Its callbacks send requests to the session (scenes/view/session.py), which executes them on its own thread.
"""

import html

import numpy as np

from scenes.registry import available
from scenes.simulate.device import running_on
from scenes.view import debug_lines
from scenes.view.plots import Plots
from scenes.view.pointer import TOOLS
from scenes.view.session import STEP_SETTINGS

NO_GHOST = "none"
FILM_FORMATS = ("mp4 film", "html replay")
STATUS_INTERVAL = 0.25  # between updates of the status [s]
PLAY, PAUSE = ("Play", "player-play"), ("Pause", "player-pause")
BOX = '<div style="margin:0 0.75em 0.5em;padding:0.5em;border-radius:4px;{colours};font-size:0.85em">{message}</div>'
ERROR_COLOURS, NOTE_COLOURS = "background:#fde8e6;color:#8c1d18", "background:#eef1f6;color:#3c4658"


class Panel:
    """The panel of a viewer. Args: viewer: a scenes.view.server.Viewer."""

    def __init__(self, viewer):
        self.viewer, self.session, self.gui = viewer, viewer.session, viewer.server.gui
        self.status_time = -np.inf
        gui = self.gui
        gui.set_panel_label("verletlab")
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        self.status = gui.add_markdown("")
        self.error, self.notes = gui.add_html("", visible=False), gui.add_html("", visible=False)
        self.play = gui.add_button(PAUSE[0], icon=PAUSE[1])
        self.play.on_click(lambda event: self.session.request(self.viewer.play_or_pause))
        self.run_buttons = gui.add_button_group("run", ("Step", "Reset", "Camera"))
        self.run_buttons.on_click(lambda event: self.press(event.target.value, event.client))
        hint = "Simulated seconds per second: 1 is real time, less is slow motion."
        self.speed = gui.add_slider("speed", 0.05, 2.0, 0.05, 1.0, hint=hint)
        on_change(self.speed, self.session, self.set_speed)
        tabs = gui.add_tab_group()
        self.scene_tab = tabs.add_tab("Scene")
        self.mouse_tab = tabs.add_tab("Mouse")
        self.show_tab = tabs.add_tab("Show")
        with tabs.add_tab("Plots"):
            self.plots = Plots(gui)
        self.film_tab = tabs.add_tab("Film")
        self.scene_handles = []  # made again for each scene and solver
        with self.mouse_tab:
            self.fill_mouse_tab()
        with self.film_tab:
            self.fill_film_tab()

    # The same for all scenes ------------------------------------------------------------------------------------------

    def fill_mouse_tab(self):
        """Add tools, and when sticks tear."""
        viewer, gui = self.viewer, self.gui
        hint = "What the left mouse button does on the scene. On empty space it rotates the camera."
        self.tool = gui.add_dropdown("tool", TOOLS, hint=hint)
        on_change(self.tool, self.session, viewer.pointers.choose)
        self.tears = gui.add_checkbox("tear", False, hint="Cloth and ropes tear when they are stretched too far.")
        self.tear_limit = gui.add_slider("tear at", 1.05, 3.0, 0.05, 1.5, hint="Length in rest lengths.")
        for handle in (self.tears, self.tear_limit):
            on_change(
                handle, self.session,
                lambda _: viewer.set_tear_limit(self.tear_limit.value if self.tears.value else None),
            )  # fmt: skip

    def fill_film_tab(self):
        """Add recording and its status."""
        gui, viewer = self.gui, self.viewer
        self.record = gui.add_button("Record", icon="player-record", hint="Record what you see from now on.")
        self.record.on_click(lambda event: self.session.request(lambda: viewer.recorder.start_or_stop(event.client)))
        hint = "A video, or one HTML file that plays the scene in a browser."
        self.film_format = gui.add_dropdown("format", FILM_FORMATS, hint=hint)
        self.film_status = gui.add_markdown("Nothing is recorded yet.")
        self.progress = gui.add_progress_bar(0.0, visible=False)

    # For each scene and solver ----------------------------------------------------------------------------------------

    def rebuild(self):
        """Make the inputs of the current scene and solver."""
        for handle in self.scene_handles:
            handle.remove()
        self.scene_handles = []
        with self.scene_tab:
            self.fill_scene_tab()
        with self.show_tab:
            self.fill_show_tab()
        self.plots.rebuild(self.session)

    def of_scene(self, handle):
        """Remember that a handle belongs to the current scene and solver. Returns: the handle."""
        self.scene_handles.append(handle)
        return handle

    def fill_scene_tab(self):
        """Add scene, solvers, parameters, steps and environment."""
        viewer, session, gui = self.viewer, self.session, self.gui
        scene = session.run.scene
        scene_menu = self.of_scene(gui.add_dropdown("scene", list(available()), initial_value=scene.name))
        on_change(scene_menu, session, viewer.load)
        solver_menu = self.of_scene(gui.add_dropdown("solver", scene.solvers, initial_value=session.run.solver))
        on_change(solver_menu, session, viewer.choose_solver)
        ghosts = (NO_GHOST, *(name for name in scene.solvers if name != session.run.solver))
        if len(ghosts) > 1:
            ghost = session.ghost.solver if session.ghost else NO_GHOST
            hint = "A second solver, drawn translucent over the first."
            ghost_menu = self.of_scene(gui.add_dropdown("ghost", ghosts, initial_value=ghost, hint=hint))
            on_change(ghost_menu, session, lambda name: viewer.choose_ghost(None if name == NO_GHOST else name))
        if scene.parameters:
            with self.of_scene(gui.add_folder("parameters")):
                self.fill_parameters(scene)
        with self.of_scene(gui.add_folder("steps")):
            self.fill_steps()
        with self.of_scene(gui.add_folder("environment")):
            self.fill_environment(scene)

    def fill_parameters(self, scene):
        """Add an input for each parameter of the scene."""
        for name, default in available()[scene.name].parameters.items():
            given, choices = scene.parameters[name], available()[scene.name].choices_of(name, self.viewer.texts)
            default = scene.chosen.get(name) if default is None else default
            value = default if given is None else given
            if value is None and choices is None:  # a number without which the scene does what it likes
                continue
            handle = add_parameter(self.gui, name, value, value if default is None else default, choices)
            on_change(handle, self.session, lambda value, name=name: self.viewer.set_parameter(name, value))

    def fill_steps(self):
        """Add the time step, substeps and iterations, as far as the solver has them."""
        session, gui = self.session, self.gui
        for name in STEP_SETTINGS:
            value = session.get(name)
            if value is None:
                continue
            if name == "dt":
                step = 1e3 * value
                limits = two_digits(step / 4), two_digits(2 * step), two_digits(step / 40)
                handle = gui.add_slider("step [ms]", *limits, float(f"{step:.4g}"))
                on_change(handle, session, lambda value: session.set("dt", value / 1e3))
            else:
                handle = gui.add_slider(name, 1, max(4 * value, 10), 1, value)
                on_change(handle, session, lambda value, name=name: session.set(name, int(value)))

    def fill_environment(self, scene):
        """Add gravity, and wind if there are triangles that it acts on."""
        session, gui = self.session, self.gui
        gravity = gui.add_vector3("gravity", tuple(map(float, session.get("gravity"))), step=0.1)
        on_change(gravity, session, lambda value: session.set("gravity", value))
        if scene.particles is not None and len(scene.particles.triangles()):
            wind = session.get("wind")
            shown = (0.0, 0.0, 0.0) if wind is None or callable(wind) else tuple(map(float, wind))
            hint = "The wind of this scene changes with time, until you set one." if callable(wind) else None
            on_change(
                gui.add_vector3("wind", shown, step=0.1, hint=hint), session, lambda value: session.set("wind", value)
            )

    def fill_show_tab(self):
        """Add what can be shown or hidden."""
        viewer, gui, session = self.viewer, self.gui, self.session
        on_change(self.of_scene(gui.add_checkbox("shadows", viewer.shadows)), session, viewer.set_shadows)
        if viewer.can_follow():
            on_change(self.of_scene(gui.add_checkbox("follow", viewer.follows)), session, viewer.set_follows)
        for name in debug_lines.available_lines(session.run):
            box = self.of_scene(gui.add_checkbox(name, name in viewer.lines.chosen))
            on_change(box, session, lambda shown, name=name: viewer.choose_lines(name, shown))

    # Actions and messages ---------------------------------------------------------------------------------------------

    def press(self, button, client):
        """Do what a button of the group does. Args: button: its label; client: who pressed it."""
        viewer = self.viewer
        actions = {
            "Step": viewer.single_step, "Reset": viewer.reset, "Camera": lambda: viewer.reset_cameras(client)
        }  # fmt: skip
        self.session.request(lambda: (self.session.clear_error(), actions[button]()))

    def set_speed(self, speed):
        """Change the speed of the session."""
        self.session.speed = speed

    def show_status(self, now=False):
        """Show how the run goes. Args: now: True ignores STATUS_INTERVAL."""
        session = self.session
        time = session.clock()
        if not now and time - self.status_time < STATUS_INTERVAL:
            return
        self.status_time = time
        label, icon = PAUSE if session.playing and not session.failed else PLAY
        if self.play.label != label:
            self.play.label, self.play.icon = label, icon
        self.status.content = status_text(session, self.viewer.note)
        self.error.visible = bool(session.error)
        self.error.content = BOX.format(colours=ERROR_COLOURS, message=html.escape(session.error))
        notes = session.run.scene.notes
        self.notes.visible = bool(notes)
        self.notes.content = BOX.format(colours=NOTE_COLOURS, message="<br>".join(map(html.escape, notes)))


def on_change(handle, session, action):
    """Request an action when a user changes an input. Only the last value counts if it changes several times.

    Args: handle; session; action: a function of the value.
    """

    def changed(event):
        if event.client is not None:  # None if this program changed it
            session.request(lambda: (session.clear_error(), action(handle.value)), key=action)

    handle.on_update(changed)


def add_parameter(gui, name, value, default, choices=None):
    """Add an input for a parameter: a checkbox, a slider, a number, or a menu of texts, by the type of its default."""
    if isinstance(default, bool):
        return gui.add_checkbox(name, bool(value))
    if choices is not None:
        hint = None if len(choices) > 1 else "To choose a file, name it on the command line."
        return gui.add_dropdown(name, choices, initial_value="" if value is None else str(value), hint=hint)
    largest = 3 * max(abs(default), abs(value))
    if not largest:
        return gui.add_number(name, value)
    if isinstance(default, int):
        return gui.add_slider(name, -largest if default < 0 else 0, largest, 1, value)
    lowest = -largest if default < 0 else 0.0
    return gui.add_slider(name, lowest, max(largest, value), two_digits(largest / 100), value)


def two_digits(number):
    """Round a number to two digits, for the ends and steps of sliders."""
    return float(f"{number:.2g}")


def status_text(session, note=""):
    """The status of a session in Markdown. Args: session; note: a remark on the device."""
    run, ghost = session.run, session.ghost
    solvers = f"**{run.solver}**" + (f" and {ghost.solver}" if ghost else "")
    if session.failed:
        pace = "stopped: press Reset"
    elif not session.playing:
        pace = "paused"
    elif session.compiling:
        pace = "compiling …"
    else:
        pace = f"{session.rate:.2f} × real time · {session.steps_per_second:.0f} steps/s"
        pace += f" · {1e3 * session.step_seconds:.2f} ms/step"
    digest = (run.particles or run.system).digest()
    return f"{solvers} on {running_on()}{note} · t = {run.system.time:.2f} s  \n{pace}  \nstate `{digest}`"
