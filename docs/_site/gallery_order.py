"""The order of the examples in a section of the gallery."""

from sphinx_gallery.sorting import FileNameSortKey

FIRST = [
    *("crossing.py", "push_and_pull.py", "landscapes.py", "epsilon.py", "convergence.py", "local_searches.py"),
    *("spring.py", "welded_beam.py", "pressure_vessel.py"),
    *("failures.py", "ask_and_tell.py", "small_budgets.py", "study.py"),
]


class Order(FileNameSortKey):
    """Those named first, then the others by name."""

    def __call__(self, filename: str) -> str:
        place = FIRST.index(filename) if filename in FIRST else len(FIRST)
        return f"{place:03d} {filename}"
