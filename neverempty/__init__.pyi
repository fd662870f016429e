# The one list of the public names: `lazy_loader` serves them at run time, type checkers read them here.
# ruff: noqa: TID252
from . import claims as claims
from . import faults as faults
from . import frames as frames
from . import stats as stats
from . import traces as traces
from ._errors import InputError as InputError
from ._errors import NeverEmptyError as NeverEmptyError
from ._errors import UsageError as UsageError
from .cases import Case as Case
from .cases import Cases as Cases
from .cases import Expect as Expect
from .cases import coverage as coverage
from .cases import load_cases as load_cases
from .cases import validate_file as validate_file
from .claims import read_answer as read_answer
from .faults import Arm as Arm
from .faults import FaultPlan as FaultPlan
from .faults import FaultSpec as FaultSpec
from .faults import fault_table as fault_table
from .frames import SCHEMAS as SCHEMAS
from .frames import calls as calls
from .frames import check_frame as check_frame
from .frames import read_frame as read_frame
from .frames import trace_rows as trace_rows
from .frames import traces_frame as traces_frame
from .frames import write_frame as write_frame
from .results import Empty as Empty
from .results import Err as Err
from .results import Ok as Ok
from .results import ToolResult as ToolResult
from .running import RunInterrupted as RunInterrupted
from .running import arun as arun
from .running import run as run
from .tools import AmbiguousEmptyError as AmbiguousEmptyError
from .tools import Tool as Tool
from .tools import tool as tool
from .tools import wrap as wrap
from .traces import AgentReply as AgentReply
from .traces import ToolCall as ToolCall
from .traces import Trace as Trace
from .traces import Tracer as Tracer
from .traces import current_tracer as current_tracer
from .traces import read_traces as read_traces

__version__: str
