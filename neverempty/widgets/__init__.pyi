# ruff: noqa: TID252
from .fault_stepper import FaultStepper as FaultStepper
from .floor_planner import FloorPlanner as FloorPlanner
from .label_events import LabelEvent as LabelEvent
from .label_events import LabelKey as LabelKey
from .label_frames import LabelAgreement as LabelAgreement
from .label_frames import disagreements as disagreements
from .label_frames import label_agreement as label_agreement
from .label_key_box import KeyBox as KeyBox
from .label_panel import LabelPanel as LabelPanel
from .label_session import LabelSession as LabelSession
from .label_store import LabelStore as LabelStore
from .label_store import Mark as Mark
from .overrules import apply_overrules as apply_overrules
from .stepper_state import StepperState as StepperState
