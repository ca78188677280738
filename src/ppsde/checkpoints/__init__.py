"""Runs on disk: plain data with a checksum, written completely or not at all, and resumed with the same bits."""
