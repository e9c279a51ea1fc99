"""The tokens of a text as words of a statement's header."""

from __future__ import annotations

from sqlglot import Token, TokenType
from sqlglot.errors import TokenError

from headwater.define.unclosed import Unclosed, find_unclosed
from headwater.define.words import Word, WordKind
from headwater.vocabulary.dialect import tokenize

_KINDS = {
    TokenType.IDENTIFIER: WordKind.QUOTED,
    TokenType.STRING: WordKind.STRING,
    TokenType.RAW_STRING: WordKind.STRING,
    TokenType.NUMBER: WordKind.NUMBER,
}


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
