"""The exit statuses of the command line."""

from __future__ import annotations

FOUND = 0
NOTHING_FEASIBLE = 1
WORSE = 1
WRONG = 2
ALL_FAILED = 3
INTERRUPTED = 130
OUTPUT_CLOSED = 141

EXPLAINED = """exit status:
  0    done; of `solve`: a feasible solution was found
  1    no feasible point was found; of `compare --fail-on-worse`: one is worse
  2    wrong usage or bad input
  3    every evaluation failed
  130  interrupted (Ctrl-C, SIGTERM); `solve` prints the best so far
  141  the reader of the output stopped reading"""
