"""What a study has measured. It is kept in the user's cache until the study is complete, so that one that was interrupted goes on."""

import hashlib
import json
import os
import sys
import time
from pathlib import Path

import report


class Measurements:
    """Answers by name, and the time that they may take together."""

    def __init__(self, study, options, minutes):
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tern" / "studies"
        folder.mkdir(parents=True, exist_ok=True)
        key = hashlib.sha256(json.dumps([study, options], sort_keys=True).encode()).hexdigest()[:12]
        self.path = folder / f"{study}-{key}.json"
        self.answers, self.used, self.budget = {}, 0.0, 60 * minutes
        if self.path.exists():
            before = json.loads(self.path.read_text())
            self.answers, self.used = before["answers"], before["used"]
            print(f"Going on after {len(self.answers)} measurements, which {self.path} holds.", file=sys.stderr)

    def left(self):
        """Seconds. Building is not counted."""
        return self.budget - self.used

    def measure(self, name, f):
        """f(), or its answer of before the interruption."""
        if name not in self.answers:
            start = time.monotonic()
            answer = f()
            self.used += time.monotonic() - start
            self.answers[name] = answer
            report.write(self.path, json.dumps({"answers": self.answers, "used": self.used}))
            begin, end = ("\r\033[K", "") if sys.stderr.isatty() else ("", "\n")
            print(f"{begin}{len(self.answers)} measurements, {self.used / 60:.1f} of {self.budget / 60:g} minutes: {name}", end=end, file=sys.stderr, flush=True)
        return self.answers[name]

    def complete(self):
        if sys.stderr.isatty():
            print(file=sys.stderr)
        self.path.unlink(missing_ok=True)
