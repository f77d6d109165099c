"""What is read of the regular expressions that come from outside, and how."""

import sys

import pytest

from mockbroker.regular_expressions import Expression, ExpressionError, MissingRE2Error, Syntax, TooDeepError


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("bu.*", "busy", "a busy"),
        ("(?i)BU|é", "É", "Ü"),
        ("(a+)+", "a" * 5_000, "a" * 5_000 + "b"),
        ("(a|b)*a(a|b){12}", "ba" * 900, "ab" * 900),
        (r"\Q(?=\C\E", r"(?=\C", "C"),
        (r"[[\]x{]+", "[]{x", "y"),
        ("a{2|{", "{", "aa"),
        ("(" * 1_000 + "a" + ")" * 1_000, "a", "b"),
    ],
)
def test_whole_texts_match(pattern: str, matching: str, other: str) -> None:
    found = Expression(pattern, Syntax.RE2J)
    assert found.matches(matching)
    assert not found.matches(other)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("(?=a)", "invalid or unsupported Perl syntax"),
        ("(?<=a)", "invalid named capture"),
        (r"(a)\1", "invalid escape sequence"),
        (r"\C", "invalid escape sequence"),
        ("a{1001}", "invalid repeat count"),
        ("a{99999999999999999999}", "invalid repeat count"),
        ("(?<n>a)(?P<n>b)", "duplicate capture group name"),
        ("a**", "invalid nested repetition operator"),
        ("a\\", "trailing backslash at end of expression"),
        ("\ud800", "invalid UTF-8"),
    ],
)
def test_what_is_refused_as_re2j_does(pattern: str, why: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        Expression(pattern, Syntax.RE2J)
    assert str(refused.value) == why


@pytest.mark.parametrize("pattern", ["(" * 3_000 + "a" + ")" * 3_000, "(" * 16_000])
def test_brackets_in_brackets_end(pattern: str) -> None:
    with pytest.raises(TooDeepError):
        Expression(pattern, Syntax.RE2J)


@pytest.mark.parametrize(
    "pattern", [r"\141", r"\v", "(?P<n>a)", "(?iU)a", "a{", "[a[b]]", "[[:alpha:]]", "[a&&b]"]
)
def test_what_java_reads_otherwise_is_refused(pattern: str) -> None:
    Expression(pattern, Syntax.RE2J)
    with pytest.raises(ExpressionError, match="mockbroker can't read"):
        Expression(pattern, Syntax.JAVA)


@pytest.mark.parametrize("pattern", [r"(?i:a[^\[]{2,3}|b)*", r"\d+\.\p{L}\x{61}", r"\Q[&&]\E&&", "[]a-c^-]+"])
def test_what_java_reads_the_same_way_is_not(pattern: str) -> None:
    Expression(pattern, Syntax.JAVA)


def test_a_text_that_takes_long_is_not_tried() -> None:
    found = Expression("(.*a){900}", Syntax.RE2J)
    assert not found.matches("ab" * 100)
    with pytest.raises(ExpressionError, match="a text of 30000 bytes"):
        found.matches("ab" * 15_000)


def test_a_pattern_that_takes_much_memory_is_refused() -> None:
    with pytest.raises(ExpressionError, match="pattern too large"):
        Expression(r"\pL{900}" * 30, Syntax.RE2J)


def test_without_re2_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(MissingRE2Error, match=r"mockbroker can't read it: pip install .*\[regex\]"):
        Expression("a", Syntax.RE2J)
