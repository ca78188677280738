"""What a checkpoint tells of the problem it is of, so that it is taken up again with the same one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .problem import Problem
from .variables import Variables


@dataclass(frozen=True, eq=False)
class Facts:
    """A problem and how it is evaluated, as far as plain values can tell."""

    method: str
    problem: str | None  # its name; None for a function, which has none
    constraint_names: tuple[str, ...] | None
    vectorized: bool
    lower: np.ndarray  # (d,), the user's bounds
    upper: np.ndarray  # (d,)
    integrality: np.ndarray | None  # (d,) bool
    log: np.ndarray | None  # (d,) bool
    on_failure: str
    eval_timeout: float | None
    eval_memory: int | None

    @classmethod
    def of(cls, problem: Problem, variables: Variables | None, *, own: bool, **others: Any) -> Facts:
        """Those of a problem; `own` if it is the user's, and not made of a function."""
        names = problem.constraint_names if own else None
        return cls(
            problem=str(problem.name) if own else None,
            constraint_names=texts(names),
            vectorized=bool(problem.vectorized),
            lower=problem.lower,
            upper=problem.upper,
            integrality=None if variables is None else variables.integrality,
            log=None if variables is None else variables.log,
            **others,
        )

    @classmethod
    def checked(cls, told: dict[str, Any]) -> Facts:
        """Those told, which may come from anywhere; what has no check of its own later is checked here."""
        facts = cls(**told)
        d = np.size(facts.lower)
        for name, sound in {
            "method": type(facts.method) is str,
            "problem": facts.problem is None or type(facts.problem) is str,
            "constraint_names": facts.constraint_names is None or _is_texts(facts.constraint_names),
            "vectorized": type(facts.vectorized) is bool,
            "lower": _is_array(facts.lower, d, float),
            "upper": _is_array(facts.upper, d, float),
            "integrality": facts.integrality is None or _is_array(facts.integrality, d, bool),
            "log": facts.log is None or _is_array(facts.log, d, bool),
        }.items():
            if not sound:
                raise ValueError(f"{name} cannot be {ascii(told[name])[:80]}")
        return facts

    def differences(self, problem: Problem) -> list[str]:
        """In what a problem is another than the one told of."""
        found = []
        if self.lower.tolist() != problem.lower.tolist() or self.upper.tolist() != problem.upper.tolist():
            found.append(
                f"bounds {_pairs(self.lower, self.upper)}; got one with {_pairs(problem.lower, problem.upper)}"
            )
        if self.problem is not None and self.problem != str(problem.name):
            found.append(f"name {self.problem!a}; got one with {problem.name!a}")
        if self.problem is not None and self.constraint_names != texts(problem.constraint_names):
            given = texts(problem.constraint_names)
            found.append(f"constraint names {_short(self.constraint_names)}; got one with {_short(given)}")
        return found


def texts(names: Any) -> tuple[str, ...] | None:
    """Names as plain text; None if there are none."""
    return None if names is None else tuple(map(str, names))


def _is_texts(value: Any) -> bool:
    return type(value) is tuple and all(type(text) is str for text in value)


def _is_array(value: Any, d: int, kind: type) -> bool:
    return type(value) is np.ndarray and value.shape == (d,) and value.dtype == kind


def _pairs(lower: np.ndarray, upper: np.ndarray) -> str:
    return _short(list(zip(lower.tolist(), upper.tolist(), strict=True)))


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 200 else text[:200] + "..."
