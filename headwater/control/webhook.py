"""Tells alerts to an address, without ever keeping the control plane waiting."""

from __future__ import annotations

import json
import queue
import threading
import urllib.request
from urllib.error import URLError

import structlog

from headwater.control.alerts import tell_log
from headwater.store.events import Event
from headwater.vocabulary.errors import ConfigInvalid

_MOST_WAITING = 1_000
_SECONDS = 5.0
_TRIES = 3

log = structlog.get_logger(__name__)


class Webhook:
    """Posts each event as JSON from a thread of its own; what cannot be told is in the ledger."""

    def __init__(self, url: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise ConfigInvalid(
                f"`alerts.webhook` must begin with http:// or https://, not {url!r}"
            )
        self._url = url
        self._waiting: queue.Queue[Event | None] = queue.Queue(_MOST_WAITING)
        self._thread = threading.Thread(target=self._work, name="headwater-webhook", daemon=True)
        self._thread.start()

    def __call__(self, event: Event) -> None:
        """Log an event and send it soon; when too many wait, the log and the ledger must do."""
        tell_log(event)
        try:
            self._waiting.put_nowait(event)
        except queue.Full:
            log.warning("webhook_full", view=event.subject)

    def close(self, seconds: float = _SECONDS) -> None:
        """Send what waits, within a limit; twice is harmless."""
        if self._thread.is_alive():
            self._waiting.put(None)
            self._thread.join(seconds)

    def _work(self) -> None:
        while (event := self._waiting.get()) is not None:
            self._send(event)

    def _send(self, event: Event) -> None:
        body = json.dumps(event.to_json()).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self._url, body, headers, method="POST")  # noqa: S310  (checked)
        for _ in range(_TRIES):
            try:
                with urllib.request.urlopen(request, timeout=_SECONDS):  # noqa: S310
                    return
            except (URLError, OSError) as error:
                failure = error
        log.warning("webhook_failed", error=str(failure))
