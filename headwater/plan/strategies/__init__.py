"""How each technique turns a view's change into a write, one file per technique.

In the equations M is what a view's table holds, and M′ what it is to hold. Some files show theirs
in SQL that is run, as the laws in headwater/plan/deltas do: a view, and the query of what its table
is to hold. There m is the table as it was.
"""
