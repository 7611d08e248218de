"""What the stores that speak SQL have in common; each adds a dialect, and what only its server can do.

* `dialect`: names, values and clauses as one store writes them, and what a connection is asked for.
* `table`, `records`, `structures`: a record in one row, or in a row for each item.
* `documents`, `answers`, `decimals`: JSON in a column, and what the rows of a request say.

How a filter, an order or a group is written stays with each store: their functions of JSON, their types and what their planners make of
an expression have too little in common.
"""
