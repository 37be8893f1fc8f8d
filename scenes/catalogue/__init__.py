"""The scenes of verletlab, one file each; components/ holds what several of them share."""
