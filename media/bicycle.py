"""Make the plots and the film of the scene `bicycle`: stable and unstable rides side by side.

    python media/bicycle.py
"""

from pathlib import Path

import scenes
from benchmarks.bicycle_plots import plot_bicycle
from scenes.render.comparison_film import film_comparison

HERE = Path(__file__).parent
SPEEDS = {"4.6 m/s, stable": 4.6, "3.6 m/s, unstable": 3.6}
SECONDS = 6.0
PUSH = 0.06  # duration of the push in the film, three times the usual one, so that the lean is seen [s]


def main():
    """Write bicycle_rides.svg and bicycle.mp4."""
    plot_bicycle(HERE / "bicycle_rides.svg")
    rides = []
    for label, speed in SPEEDS.items():
        scene = scenes.load("bicycle", speed=speed, push_duration=PUSH)
        rides.append((label, scene, scenes.run(scene, duration=SECONDS, fps=30)))
    film_comparison(rides, HERE / "bicycle.mp4", width=1280)


if __name__ == "__main__":
    main()
