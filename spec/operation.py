"""The words for what a store is asked to do; the contract says what each of them means."""

from __future__ import annotations

from typing import Literal

OperationName = Literal[
    "get",
    "put",
    "delete",
    "exists",
    "count",
    "get_many",
    "put_many",
    "get_field",
    "set_field",
    "delete_field",
    "get_path",
    "set_path",
    "unset_path",
    "increment",
    "put_if_absent",
    "compare_and_set",
    "put_expiring",
    "scan",
    "find",
    "count_where",
    "aggregate",
    "browse",
    "update_where",
    "delete_where",
]
