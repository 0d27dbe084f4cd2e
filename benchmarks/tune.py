"""Search the settings of a preset on the valid triples: python benchmarks/tune.py dl50a rotate --trials 30.

The search uses neither generated triples nor test triples: filtered ranks on valid leave out triples of train and
valid only. (The trials in benchmarks/tuned are older, and left out those of test, too.) The first trial has the
start settings; each other one changes one or two settings of the best trial so far. Each trial is a line of
benchmarks/tuned/DATASET-MODEL.jsonl; an interrupted search resumes where it stopped. ``--set dim=256`` fixes a
setting, ``--start lr=0.1`` changes a start setting, ``--show`` prints the best trials.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

import nnmfaug as na
from nnmfaug.linkpred import LinkPredictor, TrainOptions

Space = Mapping[str, tuple[Any, ...]]

SPACE: Space = {
    "init": (0.2, 1.0, 2.0, 3.0, 6.0),
    "temperature": (0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0),
    "dropout": (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    "self_negative": (0.0, 10.0, 50.0, 200.0),
    "lr": (0.1, 0.15, 0.25, 0.4),
    "batch_size": (128, 256, 512, 1024),
    "negatives": (64, 256, 1024, 4096),
    "epochs": (50, 80, 120),
    "dim": (128, 256),
}
START = LinkPredictor(init=6.0, temperature=0.5, dropout=0.5, batch_size=256, optimizer="adagrad", lr=0.25)


def main() -> None:
    """Run or show a search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset")
    parser.add_argument("model", choices=("transe", "rotate"))
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--epochs", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="a fixed setting")
    parser.add_argument(
        "--start", action="append", default=[], metavar="FIELD=VALUE", help="a setting of the first trial"
    )
    parser.add_argument("--show", action="store_true")
    parser.add_argument("-o", type=Path, default=Path(__file__).parent / "tuned")
    args = parser.parse_args()
    path = args.o / f"{args.dataset}-{args.model}.jsonl"
    if not args.show:
        fixed = parse(args.set)
        first = parse(args.start)
        start = replace(START, **{"model": args.model, "epochs": args.epochs, **first, **fixed})
        search(na.read_splits(args.dataset), start, set(fixed), path, args)
    for trial in sorted(read(path), key=lambda trial: -trial["mrr"])[:10]:
        shown = {name: trial["settings"][name] for name in SPACE}
        print(f"{trial['mrr']:.4f} valid MRR  {trial['seconds']:5.0f} s  {shown}")


def parse(texts: list[str]) -> dict[str, Any]:
    """Parse settings of the form FIELD=VALUE."""
    return {key: json.loads(value) for key, _, value in (text.partition("=") for text in texts)}


def search(splits: na.Splits, start: LinkPredictor, fixed: set[str], path: Path, args: argparse.Namespace) -> None:
    """Add trials to the file until it has ``args.trials`` of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    space = {name: values for name, values in SPACE.items() if name not in fixed}
    if start.loss != "softmax":
        space.pop("self_negative", None)
    if "negatives" in space:  # a larger number than that of all entities has the same effect
        space["negatives"] = tuple(sorted({min(n, splits.train.n_entities) for n in space["negatives"]}))
    done = read(path)
    while len(done) < args.trials:
        rng = np.random.default_rng([args.seed, len(done)])
        settings = propose(start, space, done, rng)
        started = time.perf_counter()
        score = try_out(settings, splits, args)
        trial = {"mrr": score, "seconds": time.perf_counter() - started, "settings": plain(settings)}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(trial) + "\n")
        print(f"{len(done) + 1:3d}  {score:.4f}  {settings}", flush=True)
        done = read(path)


def propose(
    start: LinkPredictor, space: Space, done: list[dict[str, Any]], rng: np.random.Generator
) -> LinkPredictor:
    """Return the start settings, later the best ones with one or two changes that have not been tried."""
    if all(trial["settings"] != plain(start) for trial in done):
        return start
    best = max(done, key=lambda trial: float(trial["mrr"]))["settings"]
    for _ in range(1000):
        names = rng.permutation(list(space))[: rng.integers(1, 3)].tolist()
        changes = {name: space[name][int(rng.integers(len(space[name])))] for name in names}
        settings = {**plain(start), **{name: best[name] for name in space}, **changes}
        if all(trial["settings"] != settings for trial in done):
            return LinkPredictor(**{**settings, "decay": tuple(map(tuple, settings["decay"]))})
    raise SystemExit("all settings have been tried: fix fewer of them")


def try_out(settings: LinkPredictor, splits: na.Splits, args: argparse.Namespace) -> float:
    """Train and return the MRR on valid; 0 if the model diverges."""
    options = TrainOptions(evaluate_every=settings.epochs, threads=args.threads)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return settings.train(splits, seed=args.seed, options=options).curve[-1]["mrr"]
        except ValueError:
            return 0.0


def plain(settings: LinkPredictor) -> dict[str, Any]:
    """Settings as they are after writing and reading JSON."""
    values: dict[str, Any] = json.loads(json.dumps(asdict(settings)))
    return values


def read(path: Path) -> list[dict[str, Any]]:
    """Return the trials of a file; settings that a trial does not have get their defaults."""
    trials = [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []
    return [{**trial, "settings": {**plain(LinkPredictor()), **trial["settings"]}} for trial in trials]


if __name__ == "__main__":
    main()
