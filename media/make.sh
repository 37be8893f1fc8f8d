#!/bin/sh
# Make all pictures and films of the README, in this folder. `verletlab` must be on the path, as in `make media`.
set -eu
cd "$(dirname "$0")"

python pictures.py  # of all scenes of the catalogue, as each scene's @register says

# Arguments: scene, duration in seconds, more flags.
film() { scene=$1 seconds=$2; shift 2; verletlab render "$scene" --out "$scene.mp4" --duration "$seconds" --quiet "$@"; }
film drape 3.5
film flag 5
film soft_body 4
film fold 5.5
film ragdoll_stairs 4
film dominoes 4
film crate_on_trampoline 4
film scout_robot 6
film pyramid 4 --param strike=9
film wrecking_ball 5
film newtons_cradle 5
film aircraft_roll 2.4 --param amplitude=0.4
film door 3.5
film gripper 7.5 --param spring=480
swept=$(mktemp -d)  # ten thousand bicycles, a quarter of an hour on two cores
verletlab sweep bicycle_map.py:pushed_bicycle --param "speed=linspace(2,9,100)" --param "tilt=linspace(10,26,100)" \
    --measure bicycle_map.py:growth --duration 2 --fps 100 --out "$swept/map" --quiet
python bicycle_map.py "$swept/map"
rm -r "$swept"
python bicycle.py  # plots, and a film of a stable and an unstable ride side by side

animation() { verletlab render "$1" --out "$1.gif" --size 480x270 --fps 20 --duration "$2" --no-labels --quiet; }

animation drape 3
animation flag 3
animation soft_body 3
animation ragdoll_stairs 3
animation dominoes 3.5
animation crate_on_trampoline 3

# Arguments: scene, more flags. Keep the film of ghosts, and the plots of the README.
compared() {
    scene=$1; shift
    made=$(mktemp -d)
    verletlab compare "$scene" --out "$made" --force --quiet "$@"
    for kind in mp4 png; do cp "$made/ghosts.$kind" "compare_$scene.$kind"; done
    for plot in deviation cost; do cp "$made/$plot.png" "compare_${scene}_$plot.png"; done
    rm -r "$made"
}
compared five_link_chain --reference impulse/100 --cost

python energy_against_cost.py  # with the extra mjcf, also by MuJoCo
python solvers.py  # the README's table of the errors of each solver
python viewer.py  # needs chromium
