"""Engines: the code that drives an algorithm's coroutines, counts evaluations and stops exactly at the budget."""
