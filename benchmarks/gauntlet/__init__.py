"""The gauntlet: jobs that optimisers stumble over, run by this library and by others side by side.

Run: python -m benchmarks.gauntlet (in the root of the repository)
"""
