"""What was measured: a line for each row as it comes, and all rows so far as a Markdown table and as JSON; a file, written whole."""

import json
import os

HEADER = f"{'row':<32} {'tern':>12} {'peer':>12}      {'ratio':>6} {'limit':>12} {'part':>5} {'rate':>16} {'memory':>16}"


def show(value, digits=4):
    return "" if value is None else f"{value:.{digits}g}"


def rate(result):
    value = result["rate"]
    return f"{show(value, 3) if value < 100 else f'{value:,.0f}'} {result['rate_unit']}" if value else ""


def part(result):
    """The part of the limit that tern reaches."""
    return f"{100 * result['limit'] / result['tern']:.0f}%" if result["limit"] else ""


def memory(result):
    """Peaks in MB, tern's and the peer's."""
    return ", ".join(f"{result[side]:,.0f}" for side in ("memory", "peer_memory") if result[side] is not None)


def modes(result):
    """The peer's modes, the fastest one first, the others with their times; or why it was not measured."""
    return result["missing"] or "; ".join(mode if time == result["peer"] else f"{mode} {show(time)} {result['unit']}"
                     for mode, time in sorted(result["modes"].items(), key=lambda item: item[1]))


def line(result):
    return (f"{result['name']:<32} {show(result['tern']):>12} {show(result['peer']):>12} {result['unit']:>3}  "
            f"{show(result['ratio'], 3):>6} {show(result['limit']):>12} {part(result):>5} {rate(result):>16} {memory(result):>16}  "
            f"{modes(result)}").rstrip()


def write(path, text):
    """The whole file or, where the program is ended meanwhile, the one before."""
    unfinished = f"{path}.part"
    with open(unfinished, "w") as file:
        file.write(text)
    os.replace(unfinished, path)


def as_json(results):
    return json.dumps(results, indent=1) + "\n"


def markdown(head, rows):
    """A table. A cell that was not measured is None."""
    return "\n".join("| " + " | ".join("" if cell is None else str(cell) for cell in cells) + " |" for cells in (head, ["---"] * len(head), *rows)) + "\n"


def as_table(results):
    """Columns that no row has are left out."""

    def time(result, side):
        return f"{show(result[side])} {result['unit']}" if result[side] is not None else ""

    columns = {"row": lambda r: r["name"], "tern": lambda r: time(r, "tern"), "rate": rate, "peer": lambda r: time(r, "peer"),
               "ratio": lambda r: show(r["ratio"], 3), "limit": lambda r: time(r, "limit"), "part of it": part, "MB, tern's and the peer's": memory,
               "the peer's mode": modes}
    cells = {head: [cell(r) for r in results] for head, cell in columns.items()}
    heads = [head for head, column in cells.items() if any(column)]
    return markdown(heads, zip(*(cells[head] for head in heads)))
