"""The published experiment run again: our cells beside the printed ones, judged, as text, CSV and a page."""
