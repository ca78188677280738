"""Reports of studies: statistics, tables, figures, one page of HTML, exports, and a live page of a running study."""

from .findings import Findings, find
from .page import page
from .study import Study, gather

__all__ = ["Findings", "Study", "find", "gather", "page"]
