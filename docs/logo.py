"""Draw the logo of the site: two ropes and a weight, hung and moved by verletlab until they rest as a V.

    python docs/logo.py  # writes docs/static/logo.svg
"""

from pathlib import Path

import numpy as np

import pbd
from pbd import build
from scenes.simulate.device import initialise

FILE = Path(__file__).parent / "static" / "logo.svg"
PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="-34 -34 68 60" fill="none" stroke-linecap="round">
<g stroke="#7f8896" stroke-width="2.5"><path d="M-32 -26H-20M20 -26H32"/></g>
<g stroke="#2f7fd1" stroke-width="4"><polyline points="{rope}"/></g>
<g fill="#2f7fd1">{particles}</g>
<circle cx="{x}" cy="{y}" r="8.5" fill="#e8743b"/>
</svg>
"""


def hung():
    """Places of the rope's particles at rest, its weight in the middle (11, 2): to the right and down."""
    particles = pbd.Particles()
    rope = build.rope(particles, [(-26, 0, 26), (0, 0, -16), (26, 0, 26)], 10, mass=10.0)
    particles.pin(rope.particles[[0, -1]])
    system = pbd.ParticleSystem(particles, dt=1 / 60, damping=0.05)
    system.set_masses(rope.particles[[5]], 30.0)
    system.step(2_000)
    return system.positions()[rope.particles][:, [0, 2]] * (1, -1)


def main():
    """Write the logo."""
    initialise("cpu")
    places = hung()
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.4"/>' for x, y in np.delete(places, 5, axis=0))
    x, y = places[5]
    FILE.write_text(PICTURE.format(rope=line, particles=dots, x=f"{x:.1f}", y=f"{y:.1f}"), "utf-8")


if __name__ == "__main__":
    main()
