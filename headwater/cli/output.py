"""Where a verb's findings go: to people as text, to programs as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import date, datetime
from typing import IO, Any, Protocol

from headwater.cli.blocks import Block, plain
from headwater.cli.spinner import Spinner
from headwater.vocabulary.errors import HeadwaterError

Text = Callable[[], Sequence[Block]]
"""Makes what people are shown; not called where a program reads."""

_SCREEN_LINES = 40


class Output(Protocol):
    """What a verb hands its findings to. Progress is for people; programs get the result alone."""

    def show(self, value: object, text: Text, /) -> None:
        """The result: `value` as JSON, or what `text` makes of it."""
        ...

    def repeated(self) -> AbstractContextManager[Callable[[object, Text], None]]:
        """A `show` for one thing that is shown again and again."""
        ...

    def tell(self, line: str, /) -> None:
        """Something that is done, while more is under way."""
        ...

    def busy(self, what: str, /) -> AbstractContextManager[None]:
        """Show that something is under way."""
        ...

    def step(self, name: str, /) -> None:
        """The step that begins now; called from any thread."""
        ...

    def progress(self, message: str, /) -> None:
        """A message of what takes long before the work can begin."""
        ...

    def fail(self, error: HeadwaterError, /) -> None:
        """The error that ends the command."""
        ...

    def complain(self, lines: Sequence[str], /) -> None:
        """Errors beside which there is a result."""
        ...


class JsonOutput:
    """One JSON value on standard output; a verb that goes on prints one per line."""

    def __init__(self, stdout: IO[str]) -> None:
        self._stdout = stdout

    def show(self, value: object, _text: Text, /) -> None:
        self._stdout.write(json.dumps(value, default=_plain_value, ensure_ascii=False) + "\n")
        self._stdout.flush()

    def repeated(self) -> AbstractContextManager[Callable[[object, Text], None]]:
        return nullcontext(self.show)

    def tell(self, _line: str, /) -> None:
        return

    def busy(self, _what: str, /) -> AbstractContextManager[None]:
        return nullcontext()

    def step(self, _name: str, /) -> None:
        return

    def progress(self, _message: str, /) -> None:
        return

    def fail(self, error: HeadwaterError, /) -> None:
        self.show({"error": error.to_json()}, list)

    def complain(self, _lines: Sequence[str], /) -> None:
        return


class TextOutput:
    """Results on standard output, progress and errors on the other one."""

    def __init__(self, stdout: IO[str], stderr: IO[str]) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self._spinner = Spinner(stderr)

    def show(self, _value: object, text: Text, /) -> None:
        blocks = text()
        if not blocks:
            return
        with self._spinner.hidden():
            if self._stdout.isatty():
                self._show_on_terminal(blocks)
            else:
                self._stdout.write("\n\n".join(plain(block) for block in blocks) + "\n")
            self._stdout.flush()

    @contextmanager
    def repeated(self) -> Iterator[Callable[[object, Text], None]]:
        if not self._stdout.isatty():
            yield self.show
            return
        from headwater.cli.terminal import redrawn  # noqa: PLC0415  (loads rich)

        with redrawn(self._stdout) as draw:
            yield lambda _value, text: draw(text())

    def tell(self, line: str, /) -> None:
        with self._spinner.hidden():
            self._stdout.write(line + "\n")
            self._stdout.flush()

    @contextmanager
    def busy(self, what: str, /) -> Iterator[None]:
        self._spinner.begin(what)
        try:
            yield
        finally:
            self._spinner.end()

    def step(self, name: str, /) -> None:
        self._spinner.step(name)

    def progress(self, message: str, /) -> None:
        self._spinner.announce(message)

    def fail(self, error: HeadwaterError, /) -> None:
        self.complain([f"error {error}"])

    def complain(self, lines: Sequence[str], /) -> None:
        with self._spinner.hidden():
            self._stderr.writelines(f"{line}\n" for line in one_screen(lines))
            self._stderr.flush()

    def _show_on_terminal(self, blocks: Sequence[Block]) -> None:
        from headwater.cli.terminal import print_blocks  # noqa: PLC0415  (loads rich)

        print_blocks(blocks, self._stdout)


def one_screen(lines: Sequence[str]) -> list[str]:
    """Messages cut to what a reader sees without scrolling."""
    split = [part for line in lines for part in line.split("\n")]
    if len(split) <= _SCREEN_LINES:
        return split
    kept = split[: _SCREEN_LINES - 1]
    return [*kept, f"... and {len(split) - len(kept)} more lines (all of them with -o json)"]


def _plain_value(value: Any) -> object:
    """Values of rows that JSON has no form for."""
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return str(value)
