"""How long `import ppsde` takes beyond NumPy's own import, as the interpreter itself measures it.

Run: python benchmarks/import_time.py
"""

from __future__ import annotations

import subprocess
import sys

LIMIT = 200.0  # milliseconds


def milliseconds() -> float:
    command = [sys.executable, "-X", "importtime", "-c", "import numpy, ppsde"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stderr.splitlines()
    rows = [line.removeprefix("import time:").split("|") for line in lines if "|" in line and "[us]" not in line]
    return next(int(cumulative) / 1000 for _, cumulative, name in rows if name.strip() == "ppsde")


if __name__ == "__main__":
    took = sorted(milliseconds() for _ in range(7))
    verdict = "met" if took[3] < LIMIT else "MISSED"
    print(
        f"import ppsde: {took[3]:.0f} ms (median of 7, {took[0]:.0f} to {took[-1]:.0f}), limit {LIMIT:.0f}: {verdict}"
    )
