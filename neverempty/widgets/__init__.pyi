# ruff: noqa: TID252
from .floor_planner import FloorPlanner as FloorPlanner
from .label_events import LabelEvent as LabelEvent
from .label_events import LabelKey as LabelKey
from .label_frames import LabelAgreement as LabelAgreement
from .label_frames import label_agreement as label_agreement
from .label_store import LabelStore as LabelStore
from .label_store import Mark as Mark
