"""Numbers that the commands printed before: a change that is not meant to change results must keep them.

Triples are compared in order and numbers to nine digits, whatever the fields are called. To renew the values, in a
commit of its own: ``NNMFAUG_RENEW=1 pytest tests/test_golden.py``.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.machines import COMMAND, run_on

VALUES = Path(__file__).parent / "golden" / "values.json"
SEEDS = (0, 1)
DATASETS = ("dl50a", "wn18rr", "umls")
AUGMENTED = [
    f"augment {name} --method {method} --seed {seed}"
    for name in DATASETS
    for method in ("nnmf", "rules", "auto")
    for seed in SEEDS
]
SPLIT = [f"split {name}.tsv --seed {seed}" for name in ("umls", "dl50a") for seed in SEEDS]
DESCRIBED = [f"stats {name} --json" for name in DATASETS]
ESTIMATED = [
    f"estimate {name} --method {method} --seed {seed} --json"
    for name in ("dl50a", "umls")
    for method in ("nnmf", "rules", "typed", "random")
    for seed in SEEDS
]
MOMENTARY = ("seconds", "versions", "method", "settings")
"""Fields whose numbers are of the machine, or settings of which there may be more one day."""


def run(*arguments: str, folder: Path) -> str:
    """Run a command in a folder and return what it prints."""
    return run_on({}, COMMAND, *arguments, folder=folder)


def numbers(value: Any) -> Iterator[str]:
    """All numbers of plain data, to nine digits."""
    if isinstance(value, dict):
        for name, part in value.items():
            if name not in MOMENTARY:
                yield from numbers(part)
    elif isinstance(value, list):
        for part in value:
            yield from numbers(part)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield f"{value:.9g}"


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def scores(path: Path) -> str:
    """The first number of each line: log-probability, confidence or probability."""
    lines = path.read_text(encoding="utf-8").splitlines()[1:]
    return "".join(f"{float(line.split(chr(9))[1]):.6g}\n" for line in lines)


def augmented(case: str, folder: Path) -> dict[str, Any]:
    run(*case.split(), "-o", "extra.tsv", folder=folder)
    triples = (folder / "extra.tsv").read_text(encoding="utf-8")
    manifest = json.loads((folder / "extra.tsv.json").read_text(encoding="utf-8"))
    return {
        "triples": digest(triples),
        "scores": digest(scores(folder / "extra.tsv.scores.tsv")),
        "numbers": sorted(numbers(manifest)),
    }


def split(case: str, folder: Path) -> dict[str, Any]:
    command, file, *options = case.split()
    run("convert", Path(file).stem, file, "--split", "all", folder=folder)
    run(command, file, *options, "-o", "parts", folder=folder)
    files = sorted((folder / "parts").glob("*.t*"))
    return {path.stem: digest(path.read_text(encoding="utf-8")) for path in files}


def described(case: str, folder: Path) -> dict[str, Any]:
    return {"numbers": sorted(numbers(json.loads(run(*case.split(), folder=folder))))}


WAYS = {"augment": augmented, "split": split, "stats": described, "estimate": described}


@pytest.mark.slow
@pytest.mark.usefixtures("archives")
@pytest.mark.parametrize("case", [*AUGMENTED, *SPLIT, *DESCRIBED, *ESTIMATED])
def test_the_same_command_gives_the_same_numbers_as_before(case: str, tmp_path: Path) -> None:
    now = WAYS[case.partition(" ")[0]](case, tmp_path)
    if os.environ.get("NNMFAUG_RENEW"):
        kept = json.loads(VALUES.read_text()) if VALUES.is_file() else {}
        VALUES.write_text(json.dumps({**kept, case: now}, indent=1, sort_keys=True) + "\n")
    before = json.loads(VALUES.read_text())[case]
    missing = Counter(before.pop("numbers", ())) - Counter(now.pop("numbers", ()))
    assert now == before
    assert not missing
