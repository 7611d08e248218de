"""Experiments on answers: interleaved sessions, random examples."""
