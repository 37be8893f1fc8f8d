"""The panel beside the picture: what a person can choose, set and press, and what it says.

What is pressed is asked of the session (scenes/view/session.py), on whose thread it is done.
"""

import html

import numpy as np

from scenes.registry import available
from scenes.simulate.device import running_on
from scenes.view import overlays
from scenes.view.plots import Plots
from scenes.view.pointer import TOOLS
from scenes.view.session import STEPPING

NONE = "none"
KINDS = ("mp4 film", "html replay")
STATUS_EVERY = 0.25  # seconds from one status line to the next
PLAY, PAUSE = "Play", "Pause"


class Panel:
    """The panel of a viewer. Arguments: viewer: a scenes.view.server.Viewer."""

    def __init__(self, viewer):
        self.viewer, self.session, self.gui = viewer, viewer.session, viewer.server.gui
        self.told = -np.inf
        gui = self.gui
        gui.set_panel_label("verletlab")
        gui.configure_theme(control_width="medium", show_logo=False, show_share_button=False)
        self.status = gui.add_markdown("")
        self.trouble = gui.add_html("", visible=False)
        self.play = gui.add_button(PAUSE, icon="player-pause")
        self.play.on_click(lambda event: self.session.ask(self.viewer.play_or_pause))
        self.press = gui.add_button_group("run", ("Step", "Reset", "Camera"))
        self.press.on_click(lambda event: self.pressed(event.target.value, event.client))
        self.speed = gui.add_slider("speed", 0.05, 2.0, 0.05, 1.0, hint="Seconds of the scene in a second: 1 is real "
                                    "time, less is slow motion.")  # fmt: skip
        asked(self.speed, self.session, self.change_speed)
        tabs = gui.add_tab_group()
        self.scene_tab = tabs.add_tab("Scene")
        self.hand_tab = tabs.add_tab("Hand")
        self.show_tab = tabs.add_tab("Show")
        with tabs.add_tab("Plots"):
            self.plots = Plots(gui)
        self.film_tab = tabs.add_tab("Film")
        self.parts = []  # what is made anew with each scene
        with self.hand_tab:
            self.fill_hand()
        with self.film_tab:
            self.fill_film()

    # What stays -------------------------------------------------------------------------------------------------------

    def fill_hand(self):
        """Tools, and when sticks tear."""
        viewer, gui = self.viewer, self.gui
        self.tool = gui.add_dropdown("tool", TOOLS, hint="What the left mouse button does with what it touches; beside "
                                     "that, it turns the camera.")  # fmt: skip
        asked(self.tool, self.session, viewer.pointers.choose)
        self.tears = gui.add_checkbox("sticks tear", False, hint="Cloth and ropes tear where they are stretched.")
        self.tear_at = gui.add_slider("tear at", 1.05, 3.0, 0.05, 1.5, hint="times their rest length")
        for handle in (self.tears, self.tear_at):
            asked(handle, self.session, lambda _: viewer.tear_at(self.tear_at.value if self.tears.value else None))

    def fill_film(self):
        """Recording, and what came of it."""
        gui, viewer = self.gui, self.viewer
        self.record = gui.add_button("Record", icon="player-record", hint="Films what you see from here on.")
        self.record.on_click(lambda event: self.session.ask(lambda: viewer.films.start_or_stop(event.client)))
        self.film_kind = gui.add_dropdown("as", KINDS, hint="A film, or one file that a browser plays and turns about.")
        self.film_status = gui.add_markdown("Nothing is recorded yet.")
        self.progress = gui.add_progress_bar(0.0, visible=False)

    # What a scene brings ----------------------------------------------------------------------------------------------

    def renew(self):
        """Make what belongs to the scene and the solver anew."""
        for part in self.parts:
            part.remove()
        self.parts = []
        with self.scene_tab:
            self.fill_scene()
        with self.show_tab:
            self.fill_show()
        self.plots.renew(self.session)

    def keep(self, handle):
        """A handle that goes when the scene does."""
        self.parts.append(handle)
        return handle

    def fill_scene(self):
        """Scene, solvers, parameters, steps, surroundings."""
        viewer, session, gui = self.viewer, self.session, self.gui
        running = session.running
        scene = running.scene
        names = list(available())
        chosen = self.keep(gui.add_dropdown("scene", names, initial_value=scene.name))
        asked(chosen, session, lambda name: viewer.load(name))
        solver = self.keep(gui.add_dropdown("solver", scene.solvers, initial_value=running.solver))
        asked(solver, session, viewer.choose_solver)
        others = (NONE, *(name for name in scene.solvers if name != running.solver))
        if len(others) > 1:
            ghost = session.ghost.solver if session.ghost else NONE
            beside = gui.add_dropdown("ghost", others, initial_value=ghost, hint="A second solver, beside the first.")
            asked(self.keep(beside), session, lambda name: viewer.choose_ghost(None if name == NONE else name))
        if scene.parameters:
            with self.keep(gui.add_folder("parameters")):
                defaults = available()[scene.name].parameters
                for name, default in defaults.items():
                    given = scene.parameters[name]
                    handle = number_or_text(gui, name, default if given is None else given, default)
                    asked(handle, session, lambda value, name=name: viewer.set_parameter(name, value))
        with self.keep(gui.add_folder("steps")):
            self.fill_steps()
        with self.keep(gui.add_folder("surroundings")):
            gravity = tuple(map(float, session.get("gravity")))
            asked(gui.add_vector3("gravity", gravity, step=0.1), session, lambda value: session.set("gravity", value))
            if scene.particles is not None and len(scene.particles.triangles()):
                wind = session.get("wind")
                known = (0.0, 0.0, 0.0) if wind is None or callable(wind) else tuple(map(float, wind))
                hint = "The scene's own changes with time, until another is given." if callable(wind) else None
                asked(gui.add_vector3("wind", known, step=0.1, hint=hint), session,
                      lambda value: session.set("wind", value))  # fmt: skip

    def fill_steps(self):
        """The step, and how it is solved."""
        session, gui = self.session, self.gui
        for name in STEPPING:
            if not session.can_set(name):
                continue
            value = session.get(name)
            if name == "dt":
                step = 1e3 * value
                handle = gui.add_slider("step [ms]", rounded(step / 4), rounded(2 * step), rounded(step / 40),
                                        float(f"{step:.4g}"))  # fmt: skip
                asked(handle, session, lambda value: session.set("dt", value / 1e3))
            else:
                handle = gui.add_slider(name, 1, max(4 * value, 10), 1, value)
                asked(handle, session, lambda value, name=name: session.set(name, int(value)))

    def fill_show(self):
        """What is drawn."""
        viewer, gui, session = self.viewer, self.gui, self.session
        asked(self.keep(gui.add_checkbox("shadows", viewer.shadows)), session, viewer.set_shadows)
        if viewer.can_follow():
            asked(self.keep(gui.add_checkbox("follow", viewer.follows)), session, viewer.set_follows)
        for name in overlays.possible(session.running):
            box = self.keep(gui.add_checkbox(name, name in viewer.overlays.chosen))
            asked(box, session, lambda wanted, name=name: viewer.choose_lines(name, wanted))

    # What it does -----------------------------------------------------------------------------------------------------

    def pressed(self, which, client):
        """A button of the group was pressed."""
        viewer = self.viewer
        act = {"Step": viewer.single_step, "Reset": viewer.reset, "Camera": lambda: viewer.aim_at_scene(client)}[which]
        self.session.ask(lambda: (self.session.forgive(), act()))

    def change_speed(self, speed):
        """Take the slider's."""
        self.session.speed = speed

    # What it says -----------------------------------------------------------------------------------------------------

    def tell(self, now=False):
        """Say how it goes, STATUS_EVERY so many seconds, or at once."""
        session = self.session
        moment = session.clock()
        if not now and moment - self.told < STATUS_EVERY:
            return
        self.told = moment
        playing = session.playing and not session.failed
        label, icon = (PAUSE, "player-pause") if playing else (PLAY, "player-play")
        if self.play.label != label:
            self.play.label, self.play.icon = label, icon
        self.status.content = status(session, self.viewer.note)
        said = session.trouble
        self.trouble.visible = bool(said)
        self.trouble.content = (
            f'<div style="margin:0 0.75em 0.5em;padding:0.5em;border-radius:4px;background:#fde8e6;color:#8c1d18;'
            f'font-size:0.85em">{html.escape(said)}</div>'
        )  # fmt: skip


def asked(handle, session, act):
    """Have the session do something with an input's value when a person changes it, the last one where there are many.
    Arguments: handle; session; act: a function of the value."""

    def changed(event):
        if event.client is not None:  # not one that we set ourselves
            session.ask(lambda: (session.forgive(), act(handle.value)), key=act)

    handle.on_update(changed)


def number_or_text(gui, name, value, default):
    """An input for a parameter, by the type of its default: a box to tick, a slider, a number, or text."""
    if isinstance(default, bool):
        return gui.add_checkbox(name, bool(value))
    if not isinstance(default, (int, float)):
        return gui.add_text(name, "" if value is None else str(value))
    most = 3 * max(abs(default), abs(value))
    if not most:
        return gui.add_number(name, value)
    if isinstance(default, int):
        return gui.add_slider(name, -most if default < 0 else 0, most, 1, value)
    step = rounded(most / 100)
    return gui.add_slider(name, -most if default < 0 else 0.0, max(most, value), step, value)


def rounded(number):
    """A number to two digits, for the ends and steps of sliders."""
    return float(f"{number:.2g}")


def status(session, note=""):
    """How a session goes, in markdown. Arguments: session; note: on the device."""
    running, ghost = session.running, session.ghost
    system = running.system
    solvers = f"**{running.solver}**" + (f" and {ghost.solver}" if ghost else "")
    if session.failed:
        pace = "stopped: press Reset"
    elif not session.playing:
        pace = "paused"
    elif session.fresh:
        pace = "compiling …"
    else:
        pace = f"{session.rate:.2f} × real time · {session.steps_per_second:.0f} steps/s"
        pace += f" · {1e3 * session.step_seconds:.2f} ms a step"
    digest = (running.particles or system).digest()
    return f"{solvers} on {running_on()}{note} · t = {system.time:.2f} s  \n{pace}  \nstate `{digest}`"
