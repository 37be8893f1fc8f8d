"""The scenes that come with verletlab, one file each."""
