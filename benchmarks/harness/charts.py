"""Charts as SVG, 800 pixels wide, in colours for light and dark pages: bars in groups, and points or lines over two axes."""

import dataclasses
import html
import math

WIDTH, LEFT, RIGHT = 800, 84, 780  # pixels; the axes lie between LEFT and RIGHT
TITLE, LEGEND, BELOW = 34, 20, 46  # heights: above the legend, of a line of it, and below the axes
LIGHT = ("#0072b2", "#d55e00", "#009e73", "#a0498b", "#b07d00", "#555555")
DARK = ("#56b4e9", "#ff9e4a", "#3ecf9f", "#e39bcb", "#f0c541", "#bbbbbb")
LIMIT = "class='axis limit'"
PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P"}


def style():
    def fills(colours):
        return " ".join(f".s{i} {{ fill: {c}; stroke: {c} }}" for i, c in enumerate(colours))

    return f"""text {{ fill: #222 }} .grid {{ stroke: #ddd }} .axis {{ stroke: #222; fill: none }} .back {{ fill: #fff }} {fills(LIGHT)}
.line {{ fill: none; stroke-width: 2 }} .limit {{ stroke-dasharray: 6 4; stroke-width: 1.5 }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} .grid {{ stroke: #3a3f46 }} .axis {{ stroke: #ddd; fill: none }} .back {{ fill: #0d1117 }}
{fills(DARK)} }}"""


def short(value):
    """15000 as 15k, 2e-6 as 2µ."""
    if value == 0 or 1e-3 <= abs(value) < 1e4:
        return f"{value:.4g}"
    power = min(15, max(-9, 3 * math.floor(math.log10(abs(value)) / 3 + 1e-9)))
    return f"{value / 10.0**power:.3g}{PREFIXES[power]}"


@dataclasses.dataclass
class Axis:
    """A scale from numbers to pixels, and where its lines are. With from_zero it is linear from 0 on; else it has the values' own ends."""

    title: str
    log: bool = False
    from_zero: bool = True

    def fit(self, values, first, last):
        """Takes in all values; the lowest lies at the pixel `first`."""
        if self.log:
            low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)) - 1e-9)
            high = max(high, low + 1)
            step = -(-(high - low) // 8)
            self.ticks = [10.0**power for power in range(low, high + 1, step)]
            if high - low == 1:
                self.ticks = [m * 10.0**low for m in (1, 2, 5, 10)]
        else:
            high = max(values) or 1
            low = 0 if self.from_zero else min(values)
            step = next(m * 10.0**e for e in range(-12, 18) for m in (1, 2, 5) if 6 * m * 10.0**e >= high - low)
            self.ticks = [i * step for i in range(math.floor(low / step), math.ceil(high / step - 1e-9) + 1)]
            low, high = self.ticks[0], self.ticks[-1]
        self.low, self.high, self.first, self.last = low, high, first, last
        return self

    def __call__(self, value):
        place = math.log10(value) if self.log else value
        return self.first + (self.last - self.first) * (place - self.low) / (self.high - self.low)


def look(i, kind=""):
    """The attributes of series i, of a kind of mark; after as many series as there are colours they come again, fainter."""
    faint = " opacity='0.45'" if i // len(LIGHT) % 2 else ""
    return f"class='s{i % len(LIGHT)}{kind}'{faint}"


def text(x, y, words, anchor="start", size=13):
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' font-size='{size}'>{html.escape(words)}</text>"


def legend(names, kinds, y):
    """Lines of names with their marks, and their height."""
    out, x = [], LEFT
    for i, name in enumerate(names):
        width = 34 + 7 * len(name)
        if x + width > WIDTH and x > LEFT:
            x, y = LEFT, y + LEGEND
        line = {"line": look(i, " line"), "limit": LIMIT}.get(kinds.get(name))
        shape = f"<path {line} d='M{x} {y - 5} h14'/>" if line else f"<rect {look(i)} x='{x}' y='{y - 11}' width='12' height='12'/>"
        out += [shape, text(x + 19, y, name)]
        x += width
    return out, y


class Panel:
    """A part of a chart. draw(top) gives its elements and the pixel below them."""

    def __init__(self, title, y_axis, height=230):
        self.title, self.y_axis, self.height = title, y_axis, height

    def frame(self, top, names, kinds):
        out, bottom_of_legend = legend(names, kinds, top + TITLE + 10)
        return [text(LEFT, top + 18, self.title, size=15), *out], bottom_of_legend + 32

    def grid(self, y):
        out = [text(LEFT - 70, y.last - 12, self.y_axis.title)]
        for value in y.ticks:
            out += [f"<path class='grid' d='M{LEFT} {y(value):.1f} H{RIGHT}'/>", text(LEFT - 8, y(value) + 4, short(value), "end")]
        return out


class Bars(Panel):
    """bars: {group: {series: height or None}}; every group has the same series. A height of None leaves a gap, and a series
    of nothing else is left out. line: a level to compare with."""

    def __init__(self, title, y_title, bars, line=None, **options):
        super().__init__(title, Axis(y_title), **options)
        self.bars, self.line = bars, line

    def draw(self, top):
        series = list(dict.fromkeys(name for heights in self.bars.values() for name, height in heights.items() if height is not None))
        out, first = self.frame(top, series, {})
        bottom = first + self.height
        heights = [h for group in self.bars.values() for h in group.values() if h is not None] + [self.line or 0]
        y = self.y_axis.fit(heights, bottom, first)
        out += self.grid(y)
        room = (RIGHT - LEFT) / len(self.bars)
        width = min(26, room * 0.85 / len(series))
        for i, (group, values) in enumerate(self.bars.items()):
            left = LEFT + room * (i + 0.5) - width * len(series) / 2
            for k, name in enumerate(series):
                if values.get(name) is not None:
                    at = y(values[name])
                    out.append(f"<rect {look(k)} stroke='none' x='{left + width * k + 1:.1f}' y='{at:.1f}' width='{width - 2:.1f}' height='{bottom - at:.1f}'/>")
            out.append(text(LEFT + room * (i + 0.5), bottom + 18, group, "middle"))
        if self.line is not None:
            out.append(f"<path class='axis limit' d='M{LEFT} {y(self.line):.1f} H{RIGHT}'/>")
        return [*out, f"<path class='axis' d='M{LEFT} {bottom} H{RIGHT}'/>"], bottom + BELOW


class Curves(Panel):
    """series: {name: [(x, y), …]}; kinds: {name: "points" (the default), "line" or "limit", a dashed line}."""

    def __init__(self, title, x_axis, y_axis, series, kinds=None, **options):
        super().__init__(title, y_axis, **options)
        self.x_axis, self.series, self.kinds = x_axis, {name: points for name, points in series.items() if points}, kinds or {}

    def draw(self, top):
        kinds = {name: self.kinds.get(name, "points") for name in self.series}
        out, first = self.frame(top, list(self.series), kinds)
        bottom = first + self.height
        points = [point for line in self.series.values() for point in line]
        x = self.x_axis.fit([p[0] for p in points], LEFT, RIGHT)
        y = self.y_axis.fit([p[1] for p in points], bottom, first)
        out += self.grid(y)
        for value in x.ticks:
            out += [f"<path class='grid' d='M{x(value):.1f} {first} V{bottom}'/>", text(x(value), bottom + 17, short(value), "middle")]
        for i, (name, line) in enumerate(self.series.items()):
            if kinds[name] == "points":
                out += [f"<circle {look(i)} cx='{x(a):.1f}' cy='{y(b):.1f}' r='2.5' fill-opacity='0.7'/>" for a, b in line]
                continue
            path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line)
            out.append(f"<polyline {LIMIT if kinds[name] == 'limit' else look(i, ' line')} points='{path}' style='fill: none'/>")
            if kinds[name] == "line":
                out += [f"<circle {look(i)} cx='{x(a):.1f}' cy='{y(b):.1f}' r='3'/>" for a, b in line]
        out += [text(RIGHT, bottom + 36, self.x_axis.title, "end"), f"<path class='axis' d='M{LEFT} {first} V{bottom} H{RIGHT}'/>"]
        return out, bottom + BELOW + 10


def svg(*panels):
    out, top = [], 10
    for panel in panels:
        drawn, top = panel.draw(top)
        out += drawn
    return "\n".join([f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {top:.0f}' font-family='sans-serif' font-size='13'>",
                      f"<style>{style()}</style>", f"<rect class='back' width='{WIDTH}' height='{top:.0f}'/>", *out, "</svg>\n"])
