"""The `headwater` command: finds the verb, and turns whatever happens into an exit status.

0 done, 1 failed, 2 wrong use, 130 interrupted, 143 terminated. Never a traceback, unless
HEADWATER_DEBUG asks for one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from headwater.cli.command import Command, Surroundings
from headwater.cli.options import Format, asked_format
from headwater.cli.output import Output
from headwater.cli.parsing import HelpShown, read_call
from headwater.cli.stopping import INTERRUPTED, stoppable
from headwater.vocabulary.errors import HeadwaterError, InternalError, WrongUse

DEBUG = "HEADWATER_DEBUG"
_LONG = {"demo", "serve"}
"""They run long enough for thoroughly compiled code to pay for itself."""


def main() -> None:
    """The installed command; leaves at once when stopped, as Spark's threads may still wait."""
    if _LONG.isdisjoint(sys.argv[1:2]):
        os.environ.setdefault("HEADWATER_JIT", "brief")
    with stoppable() as stop:
        status = run(sys.argv[1:])
    if status == INTERRUPTED:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(stop.status)
    sys.exit(status)


def run(words: Sequence[str], around: Surroundings | None = None) -> int:
    """Carry out one command line and return its exit status."""
    place = around or Surroundings()
    output = place.output(asked_format(list(words)))
    try:
        return _carried_out(words, place)
    except HelpShown:
        return 0
    except HeadwaterError as error:
        return _failed(output, error, place)
    except KeyboardInterrupt:
        output.complain(["canceled"])
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_left(place)
    except Exception as error:  # noqa: BLE001  (the last one who can turn it into a message)
        return _failed(output, _internal(error), place)


def _carried_out(words: Sequence[str], place: Surroundings) -> int:
    call = read_call(words, place.stdout)
    form = Format(call.given.pop("output"))
    command = Command(place, form, call.given.pop("project", None))
    status = call.run(command, **call.given) or 0
    place.stdout.flush()
    return status


def _failed(output: Output, error: HeadwaterError, place: Surroundings) -> int:
    output.fail(error)
    if os.environ.get(DEBUG, "") not in {"", "0"}:
        import traceback  # noqa: PLC0415  (speed)

        traceback.print_exc(file=place.stderr)
    return 2 if isinstance(error, WrongUse) else 1


def _internal(error: Exception) -> HeadwaterError:
    said = str(error).split("\n")[0][:300]
    return InternalError(
        f"{type(error).__name__}: {said}", hint=f"set {DEBUG}=1 to see where it happened"
    )


def _reader_left(place: Surroundings) -> int:
    """Whoever read our output has seen enough; what is still buffered goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, place.stdout.fileno())
    return 1
