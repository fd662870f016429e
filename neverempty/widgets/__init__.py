"""Panels for notebooks: each is a state class in plain Python with a thin view on top.

The public names stand in ``__init__.pyi`` and load on first use, ipywidgets with them.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
