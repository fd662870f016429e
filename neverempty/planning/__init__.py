"""Planning: what a suite can tell, worked out exactly before it is run."""

from neverempty.planning.making import plan, plan_for
from neverempty.planning.model import Plan
from neverempty.planning.setting import PlanSetting

__all__ = ["Plan", "PlanSetting", "plan", "plan_for"]
