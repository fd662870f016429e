"""Reports: everything that one evaluation found, with its provenance, saved, loaded and rendered."""

from neverempty.report.evaluating import EvaluationInterrupted, evaluate, make_report
from neverempty.report.model import Report
from neverempty.report.status import ReportStatus, Status

__all__ = ["EvaluationInterrupted", "Report", "ReportStatus", "Status", "evaluate", "make_report"]
