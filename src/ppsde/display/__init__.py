"""Runs, results and problems as users see them: live displays, pictures, and HTML for notebooks and reports."""
