"""Settings of every test run."""

import os

from hypothesis import settings

os.environ.setdefault("PPSDE_CACHE", "")  # tests keep no compiled programs in the user's folder

# How long an example takes tells of the machine alone; and the same examples each time, so that nothing fails by
# chance. `--hypothesis-profile explore` looks for new ones: what it finds becomes an `@example`.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=5_000)
settings.load_profile("same")
