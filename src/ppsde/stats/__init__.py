"""Statistics of runs: summaries, rank tests, comparisons, scores. Every result has `rows`; `as_text` prints them."""

from .competition import (
    CompetitionRanks,
    WeightedScores,
    competition_ranks,
    published_average_ranks,
    weighted_scores,
)
from .ecdf import Ecdf, target_ecdf
from .outcomes import Cells, Outcomes, cells_of, positions
from .pairs import (
    RankSum,
    SignedRank,
    WinTieLoss,
    a12,
    rank_sum,
    signed_rank,
    signed_rank_rows,
    significant_wins,
    win_tie_loss,
)
from .post_hoc import Comparisons, Nemenyi, holm, holm_all_pairs, holm_control, nemenyi
from .ranks import RankTest, aligned_ranks, average_ranks, friedman, friedman_aligned, quade, rank_rows
from .records import Records
from .scores import RecordCells, ScoreTable, accuracy_and_speed, u_score
from .summary import Summary, summarise, summary_rows
from .tables import TableRow, as_text

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
    "ScoreTable",
    "SignedRank",
    "Summary",
    "TableRow",
    "WeightedScores",
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
    "weighted_scores",
    "win_tie_loss",
]
