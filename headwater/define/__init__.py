"""SQL text to definitions: parsing, checking, the project folder, the dependency graph.

Nothing here is imported eagerly: the definitions themselves (`source`, `view`, `handler`,
`consumer`, `definitions`, `graph`, `stored`) load without the SQL parser, which a refresh with
nothing to do never needs.
"""
