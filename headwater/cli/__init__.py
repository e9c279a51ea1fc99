"""The command line: verbs that fetch, and an output that shows, as text or as JSON."""
