"""What was measured: a line for each row as it comes, and all rows so far as a Markdown table and as JSON; a file, written whole."""

import json
import os

HEADER = f"{'row':<32} {'tern':>12} {'peer':>12}      {'ratio':>6} {'limit':>12} {'rate':>16}"


def show(value, digits=4):
    return "" if value is None else f"{value:.{digits}g}"


def rate(result):
    value = result["rate"]
    return f"{show(value, 3) if value < 100 else f'{value:,.0f}'} {result['rate_unit']}" if value else ""


def line(result):
    return (f"{result['name']:<32} {show(result['tern']):>12} {show(result['peer']):>12} {result['unit']:>3}  "
            f"{show(result['ratio'], 3):>6} {show(result['limit']):>12} {rate(result):>16}  {result['mode']}").rstrip()


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
    def time(result, side):
        return f"{show(result[side])} {result['unit']}" if result[side] is not None else ""

    return markdown(["row", "tern", "rate", "peer", "ratio", "limit", "the peer's mode"],
                    [[r["name"], time(r, "tern"), rate(r), time(r, "peer"), show(r["ratio"], 3), time(r, "limit"), r["mode"]] for r in results])
