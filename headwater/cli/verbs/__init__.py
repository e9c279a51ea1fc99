"""One verb per file: `options` adds what it understands, the function named like the file does it.

`VERBS` is the order in which help lists them.
"""

VERBS = (
    "init",
    "demo",
    "check",
    "plan",
    "apply",
    "refresh",
    "serve",
    "status",
    "history",
    "explain",
    "verify",
    "changes",
    "sources",
    "jobs",
    "runners",
    "cancel",
    "pause",
    "resume",
    "drain",
    "migrate",
    "version",
)
