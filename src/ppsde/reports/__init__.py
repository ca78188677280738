"""Reports of studies: tables, figures, one page of HTML, files for other programs, and a look at a study at work."""

from .findings import Findings, find
from .page import page
from .study import Study, gather

__all__ = ["Findings", "Study", "find", "gather", "page"]
