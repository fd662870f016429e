"""Secrets are taken out wherever they stand; ordinary text stays as it is."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neverempty._io import dumps
from neverempty.traces import Redactor, redact

REDACT = Redactor()
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLW9mLWl0"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    "openai": "sk-proj-Ab12Cd34Ef56Gh78Ij90",
    "anthropic": "sk-ant-api03-Ab12Cd34Ef56Gh78",
    "aws": "AKIAIOSFODNN7EXAMPLE",
    "github": "ghp_" + "a1B2" * 9,
    "github_fine": "github_pat_" + "a1B2" * 8,
    "gitlab": "glpat-" + "a1B2" * 5,
    "slack": "xoxb-123456789012-abcdef",
    "hugging_face": "hf_" + "aB1" * 10,
    "google": "AIza" + "a1B2c" * 7,
    "jwt": JWT,
    "pem": PEM,
}


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS.keys())
@pytest.mark.parametrize("around", ["{}", "it is {}, I think", "\n{}\n", "({})", '{{"x": "{}"}}', "é{} "])
def test_known_forms_are_taken_out_of_any_text(secret: str, around: str) -> None:
    text = around.format(secret)
    clean = REDACT(text)
    assert secret not in clean
    assert clean == text.replace(secret, "[redacted]")
    assert REDACT.suspects(dumps({"answer": text}).encode())


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Authorization: Bearer 0123456789abcdef", "Authorization: Bearer [redacted]"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted]"),
        ("postgres://bob:hunter2@db/x?a=b", "postgres://bob:[redacted]@db/x?a=b"),
        ("GET /v1?api_key=abc&x=1", "GET /v1?api_key=[redacted]&x=1"),
        ("DB_PASSWORD = swordfish;", "DB_PASSWORD = [redacted];"),
        ('{"password": "a b\\"c", "n": 1}', '{"password": "[redacted]", "n": 1}'),
        ('"{\\"apiKey\\": \\"abc\\", \\"n\\": 1}"', '"{\\"apiKey\\": \\"[redacted]\\", \\"n\\": 1}"'),
        ("{'client_secret': 'abc', 'n': 1}", "{'client_secret': '[redacted]', 'n': 1}"),
        ("password: hunter2, user: bob", "password: [redacted], user: bob"),
        ('{"pwd": 123456, "n": 1}', '{"pwd": "[redacted]", "n": 1}'),
        ("Set-Cookie: sid=abc; Path=/\nX: 1", "Set-Cookie: [redacted]\nX: 1"),
        (f"{PEM[:40]} and no end", "[redacted]"),
        ("ok \ud835 token=abc", "ok \ud835 token=[redacted]"),
    ],
)
def test_named_values_in_a_text_are_taken_out(text: str, clean: str) -> None:
    assert REDACT(text) == clean
    assert REDACT(clean) == clean


@pytest.mark.parametrize(
    "text",
    [
        "I could not find any jobs: the token expired.",
        "Your password: please reset it first.",
        "max_tokens=5, input_tokens: 12, next_page_token: abc123",
        "A secret: nobody knows.",
        "cookie: I like chocolate ones",
        "see https://example.org/a:b/c and mailto:x@example.org",
        "basic information about Asia, bearer of news",
        "task-management-for-everyone-in-town",
        "keine Stellen gefunden \U0001f378",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert REDACT(text) == text


@pytest.mark.parametrize(
    "key",
    [
        *(
            "authorization",
            "api_key",
            "apiKey",
            "X-Api-Key",
            "OPENAI_API_KEY",
            "accessToken",
            "token",
            "Password",
        ),
        *("db_password", "passwd", "client_secret", "Set-Cookie", "cookies", "private key", "session_id"),
        *("credentials", "API KEY", "SecretKey", "passCode", "id_token"),
    ],
)
@pytest.mark.parametrize("value", ["plain words", 123456, ["a"], {"x": "y"}])
def test_the_value_of_a_secret_name_is_taken_out_at_any_depth(key: str, value: Any) -> None:
    nested = {"args": [{"deep": ({key: value, "city": "Pune"},)}]}
    assert REDACT(nested) == {"args": [{"deep": ({key: "[redacted]", "city": "Pune"},)}]}
    assert REDACT.suspects(dumps(nested).encode())


def test_names_that_only_look_alike_and_empty_values_stay() -> None:
    plain = {"input_tokens": 5, "page_token": "abc", "tokenizer": "x", "secretary": "y", "keyboard": "z"}
    empty = {"password": None, "token": "", "secret": False, "cookie": [], "api_key": {}}
    assert REDACT({**plain, **empty}) == {**plain, **empty}


def test_a_clean_trace_is_not_suspected() -> None:
    line = {
        "input_tokens": 10,
        "output_tokens": 5,
        "answer": "No jobs in Pune.",
        "url": "https://example.org/x",
    }
    assert not REDACT.suspects(json.dumps(line).encode())


PARTS = st.sampled_from(
    [
        *SECRETS.values(),
        *(
            "token",
            "=",
            ": ",
            " ",
            "\n",
            '"',
            "'",
            "password",
            "api_key",
            "Bearer ",
            "Basic ",
            "abc12345",
            "://",
        ),
        *(
            "u:p@h",
            "Cookie: a=b",
            "é",
            "\\",
            "{",
            "}",
            "sk-",
            "x",
            "\t",
            "authorization",
            "Api Key",
            "session_id",
        ),
    ]
)
TEXTS = st.lists(PARTS, max_size=8).map("".join)
OBJECTS = st.recursive(
    TEXTS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(OBJECTS)
def test_what_would_be_replaced_is_always_suspected(value: Any) -> None:
    if REDACT(value) != value:
        assert REDACT.suspects(dumps(value).encode())
        assert REDACT.suspects(json.dumps(json.dumps(value, ensure_ascii=False), ensure_ascii=False).encode())


@given(OBJECTS)
def test_taking_secrets_out_twice_is_taking_them_out_once(value: Any) -> None:
    once = REDACT(value)
    assert REDACT(once) == once


def test_rules_of_ones_own_are_added() -> None:
    own = Redactor(patterns=["EMP-[0-9]+"], redact=lambda text: text.replace("Jane", "[name]"))
    assert own({"by": "EMP-12, Jane", "token": "t1"}) == {"by": "[redacted], [name]", "token": "[redacted]"}
    assert own.suspects(b"nothing known")
    assert Redactor(patterns=["EMP-[0-9]+"]).suspects(b'{"by": "EMP-12"}')
    assert not Redactor(patterns=["EMP-[0-9]+"]).suspects(b'{"by": "emp-12"}')
    with pytest.raises(ValueError, match="does not compile"):
        Redactor(patterns=["(a"])


def test_the_objects_of_the_caller_are_not_changed() -> None:
    args = {"api_key": "x", "deep": ["token=abc"]}
    redact(args)
    assert args == {"api_key": "x", "deep": ["token=abc"]}


@pytest.mark.parametrize(
    "piece",
    [
        "token" * 10,
        "a-" * 30,
        "password: " * 5,
        "://u:" * 10,
        "-----BEGIN PRIVATE KEY-----",
        "eyJ" * 10,
        "\\\\" * 9,
    ],
)
def test_time_grows_with_the_text_and_no_faster(piece: str) -> None:
    def seconds(times: int) -> float:
        text = piece * times
        started = time.process_time()
        REDACT(text)
        return time.process_time() - started

    seconds(100)
    short, long = seconds(1_000), seconds(16_000)
    assert long < 16 * max(short, 0.001) * 8
