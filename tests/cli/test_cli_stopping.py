"""^C and `kill` on a real process."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headwater.cli.stopping import Stop


def test_signals_that_come_together_are_one_request() -> None:
    """`timeout` signals a process twice; only a later signal means the user has no patience."""
    moments = iter([0.0, 0.5])
    stop = Stop(lambda: next(moments))
    with pytest.raises(KeyboardInterrupt):
        stop(signal.SIGTERM, None)
    stop(signal.SIGTERM, None)
    assert stop.status == 128 + signal.SIGTERM


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_command_says_so(tmp_path: Path, number: signal.Signals, status: int) -> None:
    """A stopped command ends with the shell's status for the signal, without a traceback."""
    (tmp_path / "headwater.toml").touch()
    words = [sys.executable, "-m", "headwater", "status", "--watch", "-C", str(tmp_path)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as it:
        assert it.stdout is not None
        assert "no views yet" in it.stdout.readline()
        time.sleep(0.2)
        it.send_signal(number)
        _, err = it.communicate(timeout=30)
    assert it.returncode == status
    assert err.endswith("canceled\n")
    assert "Traceback" not in err
