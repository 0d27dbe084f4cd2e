"""The commands to kill: each over the output of an earlier one, with the files that belong together."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Command:
    """A command that writes.

    Parameters
    ----------
    arguments
        Of the program; the working folder has ``graph.tsv``, and ``data`` with train, valid and test.
    before
        Arguments of the command whose output is there before; empty for none.
    sets
        Files that belong together; the first is the one without which the others are not read.
    """

    name: str
    arguments: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    before: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


TEXT = ("out/train.txt", "out/valid.txt", "out/test.txt", "out/manifest.json")
IDS = ("valid2id.txt", "test2id.txt", "entity2id.txt", "relation2id.txt", "manifest.json")
OPENKE = ("out/train2id.txt", *(f"out/{name}" for name in IDS))
SAMPLE = ("x.tsv", "x.tsv.scores.tsv", "x.tsv.json")
RUNS = ("baseline-seed0", "baseline-seed1", "random-seed0", "random-seed1")
MODELS = ("baseline-seed0", "random-seed0")
TRAINING = ("--model", "transe", "--epochs", "1", "--dim", "4", "--seeds", "2", "--threads", "1")
COMPARE = ("compare", "data", "--arm", "baseline", "--arm", "random", *TRAINING, "-o", "runs")
COMBINED_RUNS = ("baseline-seed0", "baseline-seed1", "combined-seed0", "combined-seed1")
COMBINED = ("combined.json", "known.npz", "prior.npz", "model/model.json", "model/model.safetensors")
COMPARE_COMBINED = ("compare", "data", "--arm", "baseline", "--arm", "combined", *TRAINING, "-o", "runs")


def _split(seed: int, *options: str) -> tuple[str, ...]:
    return ("split", "graph.tsv", "-o", "out", "--seed", str(seed), *options)


def _augment(seed: int, *options: str) -> tuple[str, ...]:
    return ("augment", "graph.tsv", "-o", "x.tsv", "--seed", str(seed), *options)


COMMANDS = (
    Command("split, new", _split(0), (TEXT,)),
    Command("split, over another", _split(0, "--overwrite"), (TEXT,), _split(1)),
    Command(
        "split, openke", _split(0, "--layout", "openke", "--overwrite"), (OPENKE,), _split(1, "--layout", "openke")
    ),
    Command("split, another layout", _split(0, "--overwrite"), (TEXT,), _split(1, "--layout", "openke")),
    Command(
        "convert, packed", ("convert", "graph.tsv", "y.nt.zst", "--prefix", "x:", "--overwrite"), (("y.nt.zst",),)
    ),
    Command(
        "convert, parquet",
        ("convert", "data", "y.parquet", "--split", "all", "--overwrite"),
        (("y.parquet",),),
        ("convert", "data", "y.parquet", "--split", "train"),
    ),
    Command("convert, folder", ("convert", "data", "out", "--overwrite"), (TEXT,), _split(1)),
    Command(
        "augment, nnmf",
        _augment(0, "--method", "nnmf", "--amount", "50", "--overwrite"),
        (SAMPLE,),
        _augment(1, "--method", "nnmf", "--amount", "40"),
    ),
    Command("augment, rules", _augment(0, "--method", "rules", "--amount", "9", "--overwrite"), (SAMPLE,)),
    Command(
        "compare",
        COMPARE,
        (
            *((f"runs/{run}.json", f"runs/{run}.npz") for run in RUNS),
            *((f"runs/models/{run}/model.json", f"runs/models/{run}/model.safetensors") for run in MODELS),
            ("runs/comparison.json",),
        ),
    ),
    Command(
        "compare, combined",
        COMPARE_COMBINED,
        (
            *((f"runs/{run}.json", f"runs/{run}.npz") for run in COMBINED_RUNS),
            *(
                (f"runs/models/{run}/model.json", f"runs/models/{run}/model.safetensors")
                for run in COMBINED_RUNS[:2]
            ),
            tuple(f"runs/models/combined-seed0/{name}" for name in COMBINED),
            ("runs/comparison.json",),
        ),
    ),
    Command(
        "synthesize",
        ("synthesize", "--entities", "100", "--triples", "500", "--relations", "6", "-o", "s.nt", "--overwrite"),
        (("s.nt", "s.missing.nt", "s.nt.json"),),
        ("synthesize", "--entities", "100", "--triples", "400", "--relations", "6", "-o", "s.nt"),
    ),
    Command("fetch", ("datasets", "fetch", "dl50a"), (("cache/nnmfaug/dL50a.tgz",),)),
)
