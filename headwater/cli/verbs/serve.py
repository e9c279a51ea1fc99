"""`headwater serve`"""

from __future__ import annotations

from argparse import ArgumentParser
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from headwater.cli.command import Command
from headwater.cli.options import add_output, add_project, natural, positive

if TYPE_CHECKING:
    from headwater.api import Headwater
    from headwater.config import Config

_LOOK_SECONDS = 0.5


def options(parser: ArgumentParser) -> None:
    parser.add_argument("--address", metavar="A", help="what this runner is known by")
    parser.add_argument("--workers", metavar="N", type=positive(int), help="workers in all")
    parser.add_argument(
        "--metrics-port", metavar="PORT", type=natural, help="tell Prometheus, on this machine"
    )
    parser.add_argument("--log-file", metavar="FILE", type=Path, help="write the log there")
    parser.add_argument(
        "--for", dest="seconds", metavar="SECONDS", type=positive(float), help="stop after that"
    )
    add_output(parser)
    add_project(parser)


def serve(
    command: Command,
    *,
    address: str | None,
    workers: int | None,
    metrics_port: int | None,
    log_file: Path | None,
    seconds: float | None,
) -> None:
    """Keep all views fresh until stopped.

    The same command on several machines shares the work: one leads, all refresh.
    """
    from headwater.runner.logs import LogSettings, configure_logs  # noqa: PLC0415  (speed)

    with command.opened() as hw:
        config = hw.workspace.config
        logs = LogSettings.of(config.runner, config.folder)
        configure_logs(replace(logs, file=log_file or logs.file))
        hw.workspace.config = _with(config, address, workers, metrics_port)
        with command.output.busy("starting Spark"):
            _ = hw.workspace.spark
        _serve(command, hw, seconds)


def _serve(command: Command, hw: Headwater, seconds: float | None) -> None:
    from headwater.runner.service import Service, address_of  # noqa: PLC0415  (speed)

    until = None if seconds is None else command.clock.now().timestamp() + seconds
    with Service(hw.workspace):
        where = address_of(hw.workspace.config)
        command.output.tell(f"serving {where}; stop with ^C")
        while until is None or command.clock.now().timestamp() < until:
            command.clock.sleep(_LOOK_SECONDS)
    command.output.show({"address": where, "stopped": True}, lambda: [f"{where} has stopped"])


def _with(
    config: Config, address: str | None, workers: int | None, metrics_port: int | None
) -> Config:
    """The project's settings with what the command line says otherwise."""
    runner = config.runner
    runner = replace(
        runner,
        address=address or runner.address,
        workers=workers or runner.workers,
        metrics_port=runner.metrics_port if metrics_port is None else metrics_port,
    )
    return replace(config, runner=runner)
