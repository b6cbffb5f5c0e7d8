"""What was measured, for people: a line for each row as it comes, a Markdown table at the end; and as JSON."""

import json

HEADER = f"{'row':<32} {'tern':>12} {'peer':>12}      {'ratio':>6} {'limit':>12} {'rate':>16}"


def show(value, digits=4):
    return "" if value is None else f"{value:.{digits}g}"


def rate(result):
    value = result["rate"]
    return f"{show(value, 3) if value < 100 else f'{value:,.0f}'} {result['rate_unit']}" if value else ""


def line(result):
    return (f"{result['name']:<32} {show(result['tern']):>12} {show(result['peer']):>12} {result['unit']:>3}  "
            f"{show(result['ratio'], 3):>6} {show(result['limit']):>12} {rate(result):>16}  {result['mode']}").rstrip()


def write_json(path, results):
    with open(path, "w") as file:
        json.dump(results, file, indent=1)
        file.write("\n")


def write_table(path, results):
    def time(result, side):
        return f"{show(result[side])} {result['unit']}" if result[side] is not None else ""

    with open(path, "w") as file:
        print("| row | tern | rate | peer | ratio | limit | the peer's mode |\n|---|---|---|---|---|---|---|", file=file)
        for r in results:
            print(f"| {r['name']} | {time(r, 'tern')} | {rate(r)} | {time(r, 'peer')} | {show(r['ratio'], 3)} | "
                  f"{time(r, 'limit')} | {r['mode']} |", file=file)
