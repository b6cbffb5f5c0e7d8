"""The studies that harness/study.py runs."""
