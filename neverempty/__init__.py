"""Measure how often a tool-calling agent reports a failed tool as an empty result.

The public names stand in ``__init__.pyi`` and load on first use (SPEC 1), so that the import stays light.
"""

import lazy_loader as _lazy

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
