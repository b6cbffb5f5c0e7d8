"""The energy that the machine has used, where it tells: processors by RAPL, through Linux's powercap, and NVIDIA's cards by NVML."""

import ctypes
import functools
from pathlib import Path

POWERCAP = Path("/sys/class/powercap")


@functools.cache
def packages():
    """(counter, the value at which it begins anew) of each processor package that can be read, in microjoules."""
    found = []
    for zone in sorted(POWERCAP.glob("intel-rapl:*")) if POWERCAP.exists() else []:
        if zone.name.count(":") == 1:
            try:
                (zone / "energy_uj").read_text()
                found.append((zone / "energy_uj", int((zone / "max_energy_range_uj").read_text())))
            except OSError:
                pass
    return found


@functools.cache
def card():
    """NVML and its handle of the first card; None without one."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return None
    handle = ctypes.c_void_p()
    if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)):
        return None
    return nvml, handle


class Meter:
    """joules(): of processors and card since the meter was made; None where neither tells. A counter may begin anew once meanwhile."""

    def __init__(self):
        self.before = self.read()

    @staticmethod
    def read():
        values = [int(counter.read_text()) for counter, _ in packages()]
        if card():
            nvml, handle = card()
            millijoules = ctypes.c_ulonglong()
            if nvml.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(millijoules)) == 0:
                values.append(1000 * millijoules.value)
        return values

    def joules(self):
        after = self.read()
        if not after or len(after) != len(self.before):
            return None
        ranges = [limit for _, limit in packages()] + [0]
        return sum(b - a if b >= a else b - a + limit for a, b, limit in zip(self.before, after, ranges)) / 1e6
