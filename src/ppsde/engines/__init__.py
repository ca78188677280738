"""What drives an algorithm's coroutines: counting evaluations and stopping exactly at the budget."""
