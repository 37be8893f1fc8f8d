#!/bin/sh
# Make all pictures and films of the README, in this folder. `verletlab` must be on the path, as in `make media`.
set -eu
cd "$(dirname "$0")"

# Arguments: scene, duration in seconds, more flags.
picture() { scene=$1 seconds=$2; shift 2; verletlab render "$scene" --out "$scene.png" --size 640x360 --duration "$seconds" --no-labels --quiet "$@"; }
picture drape 3
picture flag 2.6
picture fold 4.6
picture soft_body 1.6
picture rope_bridge 1.2
picture plant 2
picture tetrahedron 2.2
picture ragdoll_stairs 1.6
picture dominoes 2.2
picture crate_on_trampoline 1.0
picture torn_cloth 0.47
picture bridge_collapse 1.33
picture stack 1.0
picture mobile 2.0
picture figure 1.4
picture door 1.0
picture scout_robot 3
picture trailer 3.4
picture bicycle 1.8 --param push_duration=0.06
picture aircraft_roll 1.45 --param amplitude=-0.4
picture newtons_cradle 0.9
picture pyramid 1.2 --param strike=9
picture card_house 0.1
picture arch 0.1
picture peaucellier_lipkin 1.5
picture four_bar 0.9
picture slider_crank 0.7
picture gripper 3.2
picture manipulator 4.6
picture anthropomorphic_robot 5
picture suspension_bridge 4
picture bump 1.4
picture jakobsen_box 0.4
picture penalty_joints 1.0
picture wrecking_ball 1.6
picture box 1.0
picture cube 0.7
picture chain 0.8
picture ragdoll 0.5
picture ragdoll_pile 1.6
picture pendulum 0.3
picture five_link_chain 0.35
picture dzhanibekov 1.2
picture top 1.5
picture slope 1.0
picture bouncing_balls 0.9
picture domino_spiral 2
picture high_mass_ratio 1.0

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
