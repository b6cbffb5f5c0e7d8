"""What `benchmarks/run input` measured, as Markdown, JSON and a chart."""

import dataclasses
import json

INPUTS = {"folder": "folder", "tfrecord": "TFRecord", "recordio": "RecordIO", "lmdb": "LMDB", "tar": "tar"}
CACHES = {"warm": "all of it", "dropped": "nothing"}
WORKERS = range(5)

STYLE = """text { fill: #222 } .line { stroke: #ccc } .axis { stroke: #222 } .back { fill: #fff } .mark { stroke: #d55e00; stroke-width: 2 }
.alone { stroke: #222; stroke-dasharray: 5 4 }
.w0 { fill: #b9b9b9 } .w1 { fill: #9ecae1 } .w2 { fill: #56a0d3 } .w3 { fill: #2171b5 } .w4 { fill: #0b3c7d }
@media (prefers-color-scheme: dark) { text { fill: #ddd } .line { stroke: #444 } .axis, .alone { stroke: #ddd } .back { fill: #0d1117 }
.w0 { fill: #777 } .w1 { fill: #29507a } .w2 { fill: #3b78b5 } .w3 { fill: #6aaee6 } .w4 { fill: #bfe0ff } .mark { stroke: #ff9e4a } }"""

LEFT, RIGHT, HEIGHT = 70, 780, 190  # of the axes, in pixels


def rate(answer):
    return answer["images"] / answer["seconds"]


def megabytes(n):
    return f"{n / 1e6:,.0f} MB"


@dataclasses.dataclass
class Study:
    rows: dict  # (work, input, cache, workers): answer
    network: dict
    large: dict
    cores: int

    def json(self):
        rows = [dict(zip(("work", "input", "cache", "workers"), kind)) | answer for kind, answer in self.rows.items()]
        return json.dumps({"cores": self.cores, "network": self.network, "large": self.large, "rows": rows}, indent=1) + "\n"

    def table(self):
        def lines(first, cells, last, more):
            names = " | ".join(f"{n} worker{'s' * (n != 1)}" for n in WORKERS)
            text = [f"| {first} | in memory before | {names} |{last}", "|---" * (2 + len(WORKERS) + bool(last)) + "|"]
            for source, title in INPUTS.items():
                for cache, before in CACHES.items():
                    row = " | ".join(cells(source, cache, n) for n in WORKERS)
                    text.append(f"| {title} | {before} | {row} |{more(source, cache)}")
            return "\n".join(text) + "\n"

        def read(source, cache, n):
            return f"{rate(self.rows['read', source, cache, n]):,.0f}"

        def train(source, cache, n):
            answer = self.rows["train", source, cache, n]
            return f"{rate(answer):,.0f}, {100 * answer['waited'] / answer['seconds']:.0f}%"

        def memory(source, cache):
            peak = max(self.rows["train", source, cache, n]["peak_bytes"] for n in WORKERS)
            return f" {megabytes(peak - self.network['peak_bytes'])} |"

        return "\n".join([
            f"Images/s of input alone, {self.cores} cores:\n",
            lines("input", read, "", lambda *_: ""),
            f"Images/s of training, and the part of the time that waits for input; the network alone: {rate(self.network):,.0f} images/s, "
            f"{megabytes(self.network['peak_bytes'])} resident at most. Memory is what the largest resident set has more than that:\n",
            lines("training on", train, " memory |", memory),
            f"4 GB of TFRecord shards, all read once, then trained on with 2 workers: {megabytes(self.large['peak_bytes'])} resident at most, "
            f"{megabytes(self.large['peak_bytes'] - self.network['peak_bytes'])} more than the network alone.\n"])

    def svg(self):
        top = {"read": 100, "train": 380}
        out = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 800 610' font-family='sans-serif' font-size='13'>\n<style>{STYLE}</style>",
               "<rect class='back' width='800' height='610'/>"]
        for n in WORKERS:
            out.append(f"<rect class='w{n}' x='{LEFT + 95 * n}' y='20' width='14' height='14'/>"
                       f"<text x='{LEFT + 20 + 95 * n}' y='32'>{n} worker{'s' * (n != 1)}</text>")
        out.append(f"<path class='mark' d='M{LEFT + 480} 27 h14'/><text x='{LEFT + 500}' y='32'>nothing in memory before</text>")
        out += self.panel("read", "Images a second: input alone", top["read"])
        out += self.panel("train", "Images a second: with a network trained on them", top["train"])
        return "\n".join([*out, "</svg>\n"])

    def panel(self, work, title, top):
        rates = {kind[1:]: rate(answer) for kind, answer in self.rows.items() if kind[0] == work}
        alone = [rate(self.network)] if work == "train" else []
        step = next(s for s in (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000) if max([*rates.values(), *alone]) <= 6 * s)
        bottom = top + HEIGHT
        highest = step * -(-max([*rates.values(), *alone]) // step)

        def y(value):
            return bottom - HEIGHT * value / highest

        out = [f"<text x='{LEFT}' y='{top - 22}' font-size='15'>{title}</text>"]
        for value in range(0, int(highest) + 1, step):
            out.append(f"<path class='line' d='M{LEFT} {y(value):.1f} H{RIGHT}'/>"
                       f"<text x='{LEFT - 8}' y='{y(value) + 4:.1f}' text-anchor='end'>{value:,}</text>")
        group, bar = (RIGHT - LEFT) / len(INPUTS), 24
        for i, (source, name) in enumerate(INPUTS.items()):
            left = LEFT + group * i + (group - bar * len(WORKERS)) / 2
            for n in WORKERS:
                warm, dropped, x = rates[source, "warm", n], rates[source, "dropped", n], left + bar * n
                out.append(f"<rect class='w{n}' x='{x + 1:.1f}' y='{y(warm):.1f}' width='{bar - 2}' height='{bottom - y(warm):.1f}'/>"
                           f"<path class='mark' d='M{x + 1:.1f} {y(dropped):.1f} h{bar - 2}'/>")
            out.append(f"<text x='{LEFT + group * (i + 0.5):.1f}' y='{bottom + 18}' text-anchor='middle'>{name}</text>")
        for value in alone:
            out.append(f"<path class='alone' d='M{LEFT} {y(value):.1f} H{RIGHT} M{RIGHT - 150} {top - 26} h22'/>"
                       f"<text x='{RIGHT}' y='{top - 22}' text-anchor='end'>the network alone</text>")
        return [*out, f"<path class='axis' d='M{LEFT} {bottom} H{RIGHT}'/>"]
