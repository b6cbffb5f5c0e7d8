"""What machines cost: a JSON list of {"name": …, "dollars_per_hour": …, "preemptible": true or false, "device": "cpu" or "cuda"}; without a device
a tariff is of any machine. A number instead of a file is one tariff."""

import dataclasses
import json
import math


@dataclasses.dataclass(frozen=True)
class Tariff:
    name: str
    dollars_per_hour: float
    preemptible: bool
    device: str | None = None

    def dollars(self, seconds):
        return self.dollars_per_hour * seconds / 3600

    def prices(self, device):
        return self.device in (None, device)

    def __str__(self):
        return f"{self.name}, ${self.dollars_per_hour:g} an hour{', preemptible' * self.preemptible}"


class Refused(ValueError):
    """A file of tariffs that is none; says which tariff and why."""


def tariff(entry, number):
    if not isinstance(entry, dict):
        raise Refused(f"tariff {number} is no object")
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise Refused(f"tariff {number} has no name")
    if unknown := set(entry) - {"name", "dollars_per_hour", "preemptible", "device"}:
        raise Refused(f"tariff '{name}': no member '{sorted(unknown)[0]}'; there are name, dollars_per_hour, preemptible and device")
    if "dollars_per_hour" not in entry:
        raise Refused(f"tariff '{name}' has no price: dollars_per_hour is missing")
    price = entry["dollars_per_hour"]
    if isinstance(price, bool) or not isinstance(price, (int, float)) or not 0 < price < math.inf:
        raise Refused(f"tariff '{name}': dollars_per_hour must be a number above 0, not {json.dumps(price)}")
    if not isinstance(entry.get("preemptible"), bool):
        raise Refused(f"tariff '{name}': preemptible must be true or false")
    if entry.get("device") not in (None, "cpu", "cuda"):
        raise Refused(f"tariff '{name}': device must be \"cpu\" or \"cuda\", not {json.dumps(entry['device'])}")
    return Tariff(name, float(price), entry["preemptible"], entry.get("device"))


def load(argument):
    """Of a --price; [] where there is none."""
    if argument is None:
        return []
    try:
        price = float(argument)
    except ValueError:
        pass
    else:
        return [tariff({"name": "this machine", "dollars_per_hour": price, "preemptible": False}, 1)]
    try:
        with open(argument) as file:
            entries = json.load(file)
    except OSError as error:
        raise Refused(f"{argument} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Refused(f"{argument} is no JSON: {error}") from None
    if not isinstance(entries, list) or not entries:
        raise Refused(f"{argument} is no list of tariffs")
    tariffs = [tariff(entry, i + 1) for i, entry in enumerate(entries)]
    names = [t.name for t in tariffs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise Refused(f"{argument} has two tariffs '{twice[0]}'")
    return tariffs
