"""What people's pointers do on the page: they drag, pin, let go and cut what they touch."""

from scenes.view.pins import first_on_ray

TOOLS = ("drag", "pin", "unpin", "cut")


class Pointers:
    """The pointers of all pages. viser tells of them; what they do is asked of the session, on whose thread it is done.

    Arguments: session; its Grabs, Pins and Tearing. Attributes: tool: one of TOOLS; bound: handles that tell of
    pointers, by name; cutting: where a pointer cut last, by whose it is.
    """

    def __init__(self, session, grabs, pins, tearing):
        self.session, self.grabs, self.pins, self.tearing = session, grabs, pins, tearing
        self.tool, self.bound, self.cutting = "drag", {}, {}

    def choose(self, tool):
        """Take another tool."""
        self.tool = tool
        self.grabs.release_all()
        for key, handle in self.bound.values():
            self.bind_click(*key, handle)

    def bind(self, handles):
        """Have what is drawn tell of pointers. Arguments: handles: as a Drawing has them."""
        before, self.bound = self.bound, {handle.name: (key, handle) for key, handle in handles}
        for name, (key, handle) in self.bound.items():
            if name not in before or before[name][1] is not handle:
                handle.on_drag("left")(self.dragging(*key))
                self.bind_click(*key, handle)

    def bind_click(self, number, part, handle):
        """Have it tell of clicks where the tool is one for that."""
        handle.remove_click_callback()
        if self.tool in ("pin", "unpin"):
            handle.on_click(self.clicking(number, part))

    def dragging(self, number, part):
        """What to do where a part of a visual is dragged, a function of viser's event. Arguments: their numbers."""

        async def dragged(event):
            ask, who = self.session.ask, event.client_id
            if event.phase == "end":
                ask(lambda: self.release(who))
            elif self.tool == "drag" and event.phase == "start":
                ask(lambda: self.take(who, number, part, event))
            elif self.tool == "drag":
                ask(lambda: self.grabs.lead(who, event.end_position), key=("lead", who))
            elif self.tool == "cut":
                ask(lambda: self.slash(event))
            elif event.phase == "start":
                ask(lambda: self.touch(number, part, event.instance_index, event.start_position))

        return dragged

    def clicking(self, number, part):
        """What to do where it is clicked, likewise."""

        async def clicked(event):
            self.session.ask(lambda: self.click(number, part, event))

        return clicked

    # On the session's thread ------------------------------------------------------------------------------------------

    def take(self, who, number, part, event):
        """Take hold of something, and follow the pointer."""
        self.grabs.take(who, self.tearing.visuals[number], part, event.instance_index, event.start_position)
        self.grabs.lead(who, event.end_position)

    def release(self, who):
        """Let go of what a pointer held or cut."""
        self.grabs.release(who)
        self.cutting.pop(who, None)

    def slash(self, event):
        """Cut from where the pointer was to where it is."""
        start = self.cutting.get(event.client_id, event.start_position)
        self.cutting[event.client_id] = event.end_position
        self.tearing.slash(event.client.camera.position, start, event.end_position)

    def touch(self, number, part, instance, point):
        """Pin, or let go, what is there."""
        act = self.pins.pin if self.tool == "pin" else self.pins.unpin
        act(self.tearing.visuals[number], part, instance, point)

    def click(self, number, part, event):
        """Pin, or let go, the first particle that the line of sight meets."""
        system = self.session.running.particles
        if system is not None:
            point = first_on_ray(system.positions(), event.ray_origin, event.ray_direction)
            self.touch(number, part, event.instance_index, point)
