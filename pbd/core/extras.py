"""Libraries of extras: `pip install verletlab` does not bring them, and only some functions need them."""

import importlib


def load_extra(module, extra, package=None):
    """Import a module of an extra.

    Args:
        module: its name, such as "pxr.Usd".
        extra: name of the extra in pyproject.toml.
        package: what pip calls the library; None for the first part of `module`.

    Raises: ModuleNotFoundError that says how to install it.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        if error.name != library:  # the library is there, but something that it needs is not
            raise
        message = f"{package or library} is not installed: pip install 'verletlab[{extra}]'"
        raise ModuleNotFoundError(message, name=library) from None
