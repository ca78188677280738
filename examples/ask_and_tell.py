"""The search without the evaluation: your program evaluates, the optimizer says where."""

import ppsde

optimizer = ppsde.Optimizer([(-5, 5)] * 2, n_ineq=1, max_evaluations=40_000, rng=1)
while not optimizer.done:
    x = optimizer.ask()  # rows (n, 2): evaluate them wherever you like
    optimizer.tell((x**2).sum(axis=1), g=1 - x.sum(axis=1, keepdims=True))
print(optimizer.result)
