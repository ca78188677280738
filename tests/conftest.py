"""Settings of every test run."""

import os

os.environ.setdefault("PPSDE_CACHE", "")  # tests keep no compiled programs in the user's folder
