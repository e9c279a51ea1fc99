"""`headwater demo`"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from headwater.cli.command import Command
from headwater.cli.options import add_output, positive


def options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        metavar="DIR",
        type=Path,
        nargs="?",
        help="a new folder (default: headwater-demo, or the next that is not there yet)",
    )
    parser.add_argument(
        "--rows",
        metavar="N",
        type=positive(int),
        default=200_000,
        help="how many order lines the shop has (default: 200000)",
    )
    add_output(parser)


def demo(command: Command, *, folder: Path | None, rows: int) -> int:
    """Make a shop, change it, and show what refreshes cost.

    The shop's views are refreshed after each round of changes, and recomputed beside it for
    comparison. The project stays, to go on with. Ends with status 1 if a view is wrong.
    """
    from headwater.cli.text.demo import event_line, story_blocks  # noqa: PLC0415  (speed)
    from headwater.demo.project import free_folder  # noqa: PLC0415
    from headwater.demo.run import run_demo  # noqa: PLC0415

    place = folder or free_folder(Path())
    with command.output.busy("demo"):
        story = run_demo(
            place,
            rows,
            lambda event: command.output.tell(event_line(event)),
            spark=command.around.spark,
            observer=command.output.step,
            progress=command.output.progress,
        )
    command.output.show(story.to_json(), lambda: story_blocks(story))
    return 0 if story.is_equal else 1
