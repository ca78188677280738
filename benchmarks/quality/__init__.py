"""The quality benchmark: methods of this library and installed peers on open suites, at several budgets.

Run `python -m benchmarks.quality --help` in the root of the repository.
"""
