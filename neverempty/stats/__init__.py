"""Statistics on numbers and arrays: rates, paired comparison, planning, repeats, agreement, correction.

The room imports nothing of the package nor pandas, so it can be lifted out. Its public names stand in
``__init__.pyi`` and load on first use.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
