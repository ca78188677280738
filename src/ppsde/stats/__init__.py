"""Statistics of runs: summaries, rank tests, comparisons, scores. Every result has `rows`; `as_text` prints them."""

from .bayes import BayesianSignedRank, bayesian_signed_rank
from .changes import Change, change, shift
from .competition import (
    CompetitionRanks,
    ThreeRuns,
    WeightedScores,
    competition_ranks,
    published_average_ranks,
    weighted_scores,
)
from .ecdf import Ecdf, target_ecdf
from .equivalence import Equivalence, equivalence
from .outcomes import Cells, Outcomes, cells_of, positions
from .pairs import (
    RankSum,
    SignedRank,
    WinTieLoss,
    a12,
    magnitude,
    rank_sum,
    signed_rank,
    signed_rank_rows,
    significant_wins,
    win_tie_loss,
)
from .post_hoc import (
    Comparisons,
    Nemenyi,
    RankIntervals,
    against_control,
    all_pairs,
    bergmann_hommel,
    finner,
    hochberg,
    holm,
    hommel,
    nemenyi,
    rank_intervals,
    shaffer,
)
from .ranks import RankTest, aligned_ranks, average_ranks, friedman, friedman_aligned, quade, rank_rows
from .records import Records
from .scores import RecordCells, ScoreTable, accuracy_and_speed, u_score
from .summary import Summary, summarise, summary_rows
from .tables import TableRow, as_text

__all__ = [
    "BayesianSignedRank",
    "Cells",
    "Change",
    "Comparisons",
    "CompetitionRanks",
    "Ecdf",
    "Equivalence",
    "Nemenyi",
    "Outcomes",
    "RankIntervals",
    "RankSum",
    "RankTest",
    "RecordCells",
    "Records",
    "ScoreTable",
    "SignedRank",
    "Summary",
    "TableRow",
    "ThreeRuns",
    "WeightedScores",
    "WinTieLoss",
    "a12",
    "accuracy_and_speed",
    "against_control",
    "aligned_ranks",
    "all_pairs",
    "as_text",
    "average_ranks",
    "bayesian_signed_rank",
    "bergmann_hommel",
    "cells_of",
    "change",
    "competition_ranks",
    "equivalence",
    "finner",
    "friedman",
    "friedman_aligned",
    "hochberg",
    "holm",
    "hommel",
    "magnitude",
    "nemenyi",
    "positions",
    "published_average_ranks",
    "quade",
    "rank_intervals",
    "rank_rows",
    "rank_sum",
    "shaffer",
    "shift",
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
