"""Plots: each takes ``ax=None``, returns the Axes, and has a twin that returns its data.

The public names stand in ``__init__.pyi`` and load on first use, matplotlib with them.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
