"""Commands on graphs that make costs explode: python -m benchmarks.adversarial [--only NAME], in the main folder.

Prints a table: for each graph and command the exit code, CPU seconds and peak memory in MB. A command that takes
more than 120 CPU seconds or 6 GB of address space is ended.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests import adversarial
from tests.adversarial import Rows, start_limited, write_rows

CPU_SECONDS = 120
GIGABYTES = 6
COMMANDS = {
    "stats": "stats GRAPH",
    "nnmf": "augment GRAPH --method nnmf -o OUT",
    "rules": "rules GRAPH",
    "augment rules": "augment GRAPH --method rules --all -o OUT",
    "auto": "augment GRAPH -o OUT",
    "estimate": "estimate GRAPH",
}
GRAPHS: dict[str, Callable[[], Rows]] = {
    "one triple": lambda: adversarial.chain(1),
    "10,000 self-loops": lambda: adversarial.self_loops(10_000),
    "1,000,000 repeats": lambda: adversarial.repeats(1_000_000),
    "one relation, 50,000 triples": lambda: adversarial.one_relation(50_000),
    "hub of 200,000": lambda: adversarial.hub(200_000),
    "chain of 1,000,000": lambda: adversarial.chain(1_000_000),
    "2,000 × 2,000": lambda: adversarial.all_pairs(2000, 2000),
    "5,000 relations × 1": lambda: adversarial.many_relations(5000),
    "5,000 relations × 2": lambda: adversarial.many_relations(5000, 2),
    "5,000 relations × 20": lambda: adversarial.many_relations(5000, 20),
    "5,000 relations, inverses": lambda: adversarial.many_inverses(5000),
    "50,000 relations × 1": lambda: adversarial.many_relations(50_000),
    "50,000 relations × 2": lambda: adversarial.many_relations(50_000, 2),
    "50,000 relations, inverses": lambda: adversarial.many_inverses(50_000),
    "50,000 relations of one hub": lambda: adversarial.relations_of_one_hub(50_000, 2),
    "40 relations of one hub × 2,200": lambda: adversarial.relations_of_one_hub(40, 2200),
    "hub with a rule, 200,000": lambda: adversarial.hub_with_a_rule(200_000),
    "two hubs with a rule, 2,000": lambda: adversarial.two_hubs_with_a_rule(2000),
}


def main() -> None:
    """Print one row per graph."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=tuple(GRAPHS))
    chosen = parser.parse_args().only
    print("| graph |", " | ".join(COMMANDS), "|")
    print("|---" * (len(COMMANDS) + 1) + "|")
    for name in GRAPHS if chosen is None else [chosen]:
        with tempfile.TemporaryDirectory() as folder:
            path = write_rows(GRAPHS[name](), Path(folder) / "graph.tsv")
            cells = [measure(command, path) for command in COMMANDS.values()]
        print(f"| {name} |", " | ".join(cells), "|", flush=True)


def measure(command: str, graph: Path) -> str:
    """Run a command in a child process; return its exit code, CPU seconds and peak memory."""
    words = command.replace("GRAPH", graph.name).replace("OUT", "extra.tsv").split()
    process = start_limited(
        *words, cwd=graph.parent, cpu_seconds=CPU_SECONDS, gigabytes=GIGABYTES, output=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = usage.ru_utime + usage.ru_stime
    code = os.waitstatus_to_exitcode(status)
    return f"{code if code >= 0 else 'ended'}, {seconds:.0f} s, {usage.ru_maxrss / 1000:,.0f}"


if __name__ == "__main__":
    main()
