"""The scenes of verletlab, one file each; parts/ holds what several of them share."""
