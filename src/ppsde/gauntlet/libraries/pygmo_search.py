"""pygmo: self-adaptive differential evolution, and its ant colony where there are constraints or workers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from ..task import TOLERANCE, Answer, Task

POPULATION = 50


class OfTask:
    """A task as pygmo's user-defined problem."""

    def __init__(self, task: Task) -> None:
        self.task = task

    def fitness(self, x: np.ndarray) -> Any:
        task = self.task
        if task.rows:
            return task.f(x[None])
        return [task.f(x), *(task.h(x) if task.h else ()), *(task.g(x) if task.g else ())]

    def get_bounds(self) -> tuple[Any, Any]:
        return self.task.low, self.task.high

    def get_nic(self) -> int:
        return self.task.counts[0]

    def get_nec(self) -> int:
        return self.task.counts[1]


class OfRows(OfTask):
    """The same, for a function of rows."""

    def batch_fitness(self, x: np.ndarray) -> Any:
        return self.task.f(np.reshape(x, (-1, len(self.task.low))))


def solve(task: Task, seed: int) -> Answer:
    pygmo = import_module("pygmo")
    problem = pygmo.problem((OfRows if task.rows else OfTask)(task))
    problem.c_tol = [TOLERANCE] * problem.get_nec() + [0.0] * problem.get_nic()
    generations = max(1, task.evaluations // POPULATION - 1)
    if task.rows or task.workers > 1:
        batches = pygmo.bfe(pygmo.member_bfe() if task.rows else pygmo.mp_bfe())
        if task.workers > 1:
            pygmo.mp_bfe.init_pool(task.workers)
        method = pygmo.gaco(gen=generations, ker=POPULATION - 1, seed=seed)
        method.set_bfe(batches)
        population = pygmo.population(problem, size=POPULATION, b=batches, seed=seed)
    elif any(task.counts):
        method = pygmo.gaco(gen=generations, ker=POPULATION - 1, seed=seed)
        population = pygmo.population(problem, size=POPULATION, seed=seed)
    else:
        method = pygmo.sade(gen=generations, seed=seed)
        population = pygmo.population(problem, size=POPULATION, seed=seed)
    population = pygmo.algorithm(method).evolve(population)
    return Answer(population.champion_x, population.champion_f[0], None, population.problem.get_fevals())
