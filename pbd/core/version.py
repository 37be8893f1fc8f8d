"""The version of this installation."""


def installed_version():
    """Installed version of verletlab, or "(not installed)"."""
    from importlib import metadata  # imports 20 modules, which few commands need

    try:
        return metadata.version("verletlab")
    except metadata.PackageNotFoundError:
        return "(not installed)"
