"""Statistics of runs: tables in, tables out. Every result has `rows`, and `as_text` prints them."""

from .accuracy_and_speed import accuracy_and_speed
from .aligned import aligned_ranks, friedman_aligned
from .competition_ranks import CompetitionRanks, competition_ranks
from .ecdf import Ecdf, target_ecdf
from .friedman import RankTest, friedman
from .holm import Comparisons, holm, holm_all_pairs, holm_control
from .nemenyi import Nemenyi, nemenyi
from .outcomes import Cells, Outcomes, cells_of, positions
from .published_ranks import published_average_ranks
from .quade import quade
from .rank_sum import RankSum, a12, rank_sum
from .ranks import average_ranks, rank_rows
from .records import Records
from .signed_rank import SignedRank, signed_rank, signed_rank_rows
from .summary import Summary, summarise, summary_rows
from .tables import Row, as_text
from .u_score import RecordCells, Scores, u_score
from .wins import WinTieLoss, significant_wins, win_tie_loss

__all__ = [
    "Cells",
    "Comparisons",
    "CompetitionRanks",
    "Ecdf",
    "Nemenyi",
    "Outcomes",
    "RankSum",
    "RankTest",
    "RecordCells",
    "Records",
    "Row",
    "Scores",
    "SignedRank",
    "Summary",
    "WinTieLoss",
    "a12",
    "accuracy_and_speed",
    "aligned_ranks",
    "as_text",
    "average_ranks",
    "cells_of",
    "competition_ranks",
    "friedman",
    "friedman_aligned",
    "holm",
    "holm_all_pairs",
    "holm_control",
    "nemenyi",
    "positions",
    "published_average_ranks",
    "quade",
    "rank_rows",
    "rank_sum",
    "signed_rank",
    "signed_rank_rows",
    "significant_wins",
    "summarise",
    "summary_rows",
    "target_ecdf",
    "u_score",
    "win_tie_loss",
]
