"""Frozen editions, those who judged in them, and disputed cases: what later releases keep so that older claims can be verified."""
