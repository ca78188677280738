"""The gauntlet: jobs that optimisers stumble over, run by this library and by others side by side.

python -m ppsde.gauntlet
"""
