"""Model judges: the least trustworthy part, published only with their agreement with people."""

from neverempty.judge.answers import Read, StatementReader, read_by_judge, second_reading
from neverempty.judge.asking import RETRIES, Consistency, Judge, JudgeModel
from neverempty.judge.cache import JudgeCache, cache_key
from neverempty.judge.calibration import ENOUGH_JUDGED, Calibration, calibrate
from neverempty.judge.correcting import correct_by_matrix
from neverempty.judge.families import FAMILIES, check_families, family_of
from neverempty.judge.labels import CANT_TELL, INJECTION, Labelled, read_judged, read_labels
from neverempty.judge.models import CallableJudge, FakeJudge, JudgeEndpointError, OpenAIJudge, shown_sentences
from neverempty.judge.prompt import RUBRIC, judge_id_of, messages_for
from neverempty.judge.replies import BadReplyError, read_reply
from neverempty.judge.verdicts import VERDICTS, Judgement
from neverempty.stats import LabelBudget
from neverempty.stats import kappa_label_budget as label_budget

__all__ = [
    "CANT_TELL",
    "ENOUGH_JUDGED",
    "FAMILIES",
    "INJECTION",
    "RETRIES",
    "RUBRIC",
    "VERDICTS",
    "BadReplyError",
    "Calibration",
    "CallableJudge",
    "Consistency",
    "FakeJudge",
    "Judge",
    "JudgeCache",
    "JudgeEndpointError",
    "JudgeModel",
    "Judgement",
    "LabelBudget",
    "Labelled",
    "OpenAIJudge",
    "Read",
    "StatementReader",
    "cache_key",
    "calibrate",
    "check_families",
    "correct_by_matrix",
    "family_of",
    "judge_id_of",
    "label_budget",
    "messages_for",
    "read_by_judge",
    "read_judged",
    "read_labels",
    "read_reply",
    "second_reading",
    "shown_sentences",
]
