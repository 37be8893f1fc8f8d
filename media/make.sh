#!/bin/sh
# Makes every picture and film of the README again, beside itself. Needs `verletlab` on the path; `make media` sees to that.
set -eu
cd "$(dirname "$0")"

# Arguments of each: scene, seconds, and flags of its own.
still() { scene=$1 seconds=$2; shift 2; verletlab render "$scene" --out "$scene.png" --size 640x360 --duration "$seconds" --no-labels --quiet "$@"; }
still drape 3
still flag 2.6
still fold 4.6
still soft_body 1.6
still rope_bridge 1.2
still plant 2
still tetrahedron 2.2
still box 0.6
still ragdoll_stairs 1.6
still dominoes 2.2
still crate_on_trampoline 1.0
still stack 1.0
still mobile 2.0
still figure 1.4
still door 1.0
still scout_robot 3
still trailer 3.4
still newtons_cradle 0.9
still pyramid 1.2 --param strike=9
still card_house 0.1
still arch 0.1
still peaucellier_lipkin 1.5
still four_bar 0.9
still slider_crank 0.7
still gripper 3.2
still manipulator 4.6
still anthropomorphic_robot 5
still suspension_bridge 4

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
film newtons_cradle 5

moving() { verletlab render "$1" --out "$1.gif" --size 480x270 --fps 20 --duration "$2" --no-labels --quiet; }
moving drape 3
moving flag 3
moving soft_body 3
moving ragdoll_stairs 3
moving dominoes 3.5
moving crate_on_trampoline 3

# Arguments: scene, then flags of its own. The film is that of ghosts; the plots are those that the README shows.
compared() {
    scene=$1; shift
    made=$(mktemp -d)
    verletlab compare "$scene" --out "$made" --force --quiet "$@"
    for kind in mp4 png; do cp "$made/ghosts.$kind" "compare_$scene.$kind"; done
    for plot in deviation cost; do cp "$made/$plot.png" "compare_${scene}_$plot.png"; done
    rm -r "$made"
}
compared five_link_chain --reference impulse/100 --sweep

python solvers.py  # the README's table of what each solver is good and bad at
python viewer.py  # wants chromium
