"""Spark SQL text to tokens, by sqlglot's tokenizer, with Spark 4's reading of doubled quotes.

Since Spark 4, `'it''s'` is one string with a quote in it; sqlglot reads two strings and would join
them without the quote. The merge happens here, before anybody parses.
"""

from __future__ import annotations

from sqlglot import Token, TokenType
from sqlglot.dialects.spark import Spark
from sqlglot.errors import TokenError

from headwater.define.unclosed import Unclosed, find_unclosed
from headwater.define.words import Word, WordKind

_SPARK = Spark()

_KINDS = {
    TokenType.IDENTIFIER: WordKind.QUOTED,
    TokenType.STRING: WordKind.STRING,
    TokenType.RAW_STRING: WordKind.STRING,
    TokenType.NUMBER: WordKind.NUMBER,
}


def tokenize(text: str) -> list[Token]:
    """All tokens of a text; raises sqlglot's TokenError where a quote or comment stays open."""
    merged: list[Token] = []
    for token in _SPARK.tokenize(text):
        if merged and _is_doubled_quote(text, merged[-1], token):
            merged[-1] = _joined(text, merged[-1], token)
        else:
            merged.append(token)
    return merged


def tokenize_closed(text: str) -> tuple[list[Token], Unclosed | None]:
    """The tokens up to the first quote or comment that stays open, and that one."""
    try:
        return tokenize(text), None
    except TokenError:
        unclosed = find_unclosed(text)
        return tokenize(text[: unclosed.start]), unclosed


def words(text: str, tokens: list[Token]) -> list[Word]:
    """Tokens as header words; a keyword of several words becomes several."""
    found: list[Word] = []
    for token in tokens:
        if found and token.start < found[-1].end:
            continue  # the type suffix of a number comes as tokens of the same span
        kind = _KINDS.get(token.token_type)
        if kind is None:
            found.extend(_unquoted(text, token))
        else:
            written = text[token.start : token.end + 1]
            meant = written if kind is WordKind.NUMBER else token.text
            found.append(Word(kind, meant, token.start, token.end + 1))
    return found


def _unquoted(text: str, token: Token) -> list[Word]:
    start, end = token.start, token.end + 1
    written = text[start:end]
    kind = WordKind.PLAIN if written[0].isalnum() or written[0] == "_" else WordKind.SYMBOL
    if " " not in token.text:
        return [Word(kind, written, start, end)]
    parts: list[Word] = []
    for part in written.split():
        at = text.index(part, parts[-1].end if parts else start)
        parts.append(Word(kind, part, at, at + len(part)))
    return parts


def _is_doubled_quote(text: str, left: Token, right: Token) -> bool:
    both_strings = left.token_type is right.token_type is TokenType.STRING
    return both_strings and left.end + 1 == right.start and text[left.end] == text[right.start]


def _joined(text: str, left: Token, right: Token) -> Token:
    return Token(
        TokenType.STRING,
        left.text + text[right.start] + right.text,
        line=right.line,
        col=right.col,
        start=left.start,
        end=right.end,
        comments=left.comments + right.comments,
    )
