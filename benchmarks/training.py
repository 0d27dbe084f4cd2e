"""Link prediction against stock PyKEEN, in one process: python benchmarks/training.py [--only PART].

The graphs are random and have the size of WN18RR.

``training``: positives per second, with 256 negatives that the batch shares, 128 a side; stock sLCWA has 32 each.
``evaluation``: seconds per ranked triple; PyKEEN's evaluator computes filtered ranks, ours filtered and raw ones.
``growing``: cost of a positive in a growing training set, relative to a constant one.
``paper``: positives per second with the settings of pykg2vec; stock PyKEEN has Adam with dense gradients, the same
sizes, and negatives that may be true.
``moduli``: scores and gradients of RotatE with norm 1, a few queries at a time; the reference makes one array.
"""

from __future__ import annotations

import argparse
import gc
import logging
import os
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from pykeen.evaluation import RankBasedEvaluator
from pykeen.models import RotatE, TransE
from pykeen.optimizers import optimizer_resolver
from pykeen.training import SLCWATrainingLoop
from pykeen.triples import CoreTriplesFactory

import nnmfaug as na
from nnmfaug.linkpred.interactions import FastRotatE
from nnmfaug.linkpred.models import make_loss, make_model, make_optimizer
from nnmfaug.linkpred.one_lookup import OneLookupTrainingLoop
from nnmfaug.linkpred.ranking import rank
from nnmfaug.linkpred.redrawn_negatives import RedrawnNegativeSampler
from nnmfaug.linkpred.shared_negatives import NNMFAugSharedTrainingLoop
from timing import seconds

Ids = NDArray[np.int32]
Loop = tuple[Any, CoreTriplesFactory]

N_ENTITIES, N_RELATIONS, DIM = 40_943, 11, 200
BATCH, STOCK_NEGATIVES, SHARED_NEGATIVES = 512, 32, 128
BARS = {"training": 8.0, "evaluation": 20.0, "growing": 1.03, "paper": 4.0, "moduli": 2.0}


def main() -> None:
    """Print one line per ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=tuple(BARS))
    parser.add_argument("--threads", type=int, default=min(os.cpu_count() or 1, 2))
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    torch.set_num_threads(args.threads)
    for name, part in zip(BARS, (training, evaluation, growing, paper, moduli), strict=True):
        if args.only in (None, name):
            part()


def training() -> None:
    """Positives per second over one epoch."""
    n_stock = 8 * BATCH
    n_ours = 128 * BATCH
    few = random_triples(n_stock)
    many = random_triples(n_ours)
    for name in ("transe", "rotate"):
        for optimizer in ("adagrad", "adam"):
            stock, ours = seconds(
                trainings(partial(stock_loop, name, optimizer, few), 1),
                trainings(partial(shared_loop, settings(name, optimizer), many), 1),
            )
            negatives = f"{2 * SHARED_NEGATIVES} shared negatives against {STOCK_NEGATIVES} of stock PyKEEN"
            ratio = (stock / n_stock) / (ours / n_ours)
            verdict(f"{name}, {optimizer}, positives/s, {negatives}", ratio, BARS["training"])


def evaluation() -> None:
    """Seconds per test triple; PyKEEN's evaluator has the batch size that it chooses on a processor."""
    train, some, many = (graph(random_triples(n)) for n in (86_835, 32, 512))
    model = RotatE(triples_factory=factory(train.triples), embedding_dim=DIM, random_seed=0)
    known, test = (torch.from_numpy(part.triples.astype(np.int64)) for part in (train, some))
    fast = make_model(settings("rotate"), factory(train.triples))
    stock, ours = seconds(
        lambda: RankBasedEvaluator().evaluate(
            model, test, batch_size=32, additional_filter_triples=[known], use_tqdm=False
        ),
        lambda: rank(fast, many, train),
    )
    ratio = (stock / len(some)) / (ours / len(many))
    verdict("rotate, filtered and raw ranks against PyKEEN's filtered ones", ratio, BARS["evaluation"])


def growing() -> None:
    """Seconds per positive in a growing training set, divided by those in a constant one."""
    n_epochs = 6
    triples = random_triples(32 * BATCH)
    extra = torch.from_numpy(random_triples(16 * BATCH).astype(np.int64))
    sizes = [na.Polynomial(2)(e, n_epochs, len(extra)) for e in range(1, n_epochs + 1)]
    plain, grown = seconds(
        trainings(partial(shared_loop, settings("rotate"), triples), n_epochs, 5),
        trainings(partial(shared_loop, settings("rotate"), triples, extra), n_epochs, 5),
        repeats=5,
    )
    n_plain = n_epochs * len(triples)
    n_grown = n_plain + sum(sizes)
    ratio = (grown / n_grown) / (plain / n_plain)
    met = "met" if ratio <= BARS["growing"] else "not met"
    print(f"rotate, cost per positive in a growing training set: {ratio:.3f} of a constant one (bar 1.03: {met})")


def paper() -> None:
    """Positives per second over a part of an epoch."""
    triples = random_triples(200 * 128)
    for name in ("transe", "rotate"):
        predictor = na.LinkPredictor.preset(f"{name}-paper")
        stock, ours = seconds(
            trainings(partial(small_stock_loop, predictor, triples), 1, batch_size=predictor.batch_size),
            trainings(partial(paper_loop, predictor, triples), 1, batch_size=predictor.batch_size),
        )
        verdict(f"{name}-paper, positives/s, against stock PyKEEN with Adam", stock / ours, BARS["paper"])


def moduli() -> None:
    """Seconds per batch of queries, forward and backward."""
    h, t = (torch.randn(BATCH // 2, DIM, dtype=torch.cfloat, requires_grad=True) for _ in range(2))
    turn = torch.ones(1, 1, DIM, dtype=torch.cfloat)
    queries: Any = h[:, None]
    candidates = t[None]
    fast: Any = FastRotatE(p=1)
    stock, ours = seconds(
        lambda: (queries * turn - candidates).abs().sum(-1).sum().backward(),
        lambda: fast(queries, turn, candidates).sum().backward(),
    )
    verdict("rotate with norm 1, scores and gradients, against one array", stock / ours, BARS["moduli"])


def settings(name: Any, optimizer: Any = "adagrad") -> na.LinkPredictor:  # noqa: ANN401
    """Settings of the same size as the stock model."""
    return na.LinkPredictor(
        model=name,
        dim=DIM,
        loss="self-adversarial",
        negatives=SHARED_NEGATIVES,
        reciprocal=False,
        optimizer=optimizer,
        lr=1e-3,
    )


def stock_loop(name: str, optimizer: str, triples: Ids) -> Loop:
    """PyKEEN's own model and training loop."""
    training_set = factory(triples)
    options: dict[str, Any] = {
        "triples_factory": training_set,
        "embedding_dim": DIM,
        "loss": "nssa",
        "random_seed": 0,
    }
    model = TransE(scoring_fct_norm=2, **options) if name == "transe" else RotatE(**options)
    loop = SLCWATrainingLoop(
        model=model,
        triples_factory=training_set,
        optimizer=optimizer_resolver.make(optimizer, params=model.get_grad_params(), lr=1e-3),
        negative_sampler_kwargs={"num_negs_per_pos": STOCK_NEGATIVES},
        automatic_memory_optimization=False,
    )
    return loop, training_set


def shared_loop(predictor: na.LinkPredictor, triples: Ids, extra: torch.Tensor | None = None) -> Loop:
    """Our model and training loop."""
    training_set = factory(triples)
    model = make_model(predictor, training_set)
    model.loss = make_loss(predictor)
    loop = NNMFAugSharedTrainingLoop(
        model=model,
        triples_factory=training_set,
        optimizer=make_optimizer(predictor, model),
        num_negatives=predictor.negatives,
        automatic_memory_optimization=False,
        extra=extra,
        repeats=True,
    )
    return loop, training_set


def small_stock_loop(predictor: na.LinkPredictor, triples: Ids) -> Loop:
    """PyKEEN's own model and training loop with one negative of its own for each triple."""
    training_set = factory(triples)
    kind = TransE if predictor.model == "transe" else RotatE
    loss = {"transe": "marginranking", "rotate": "nssa"}[predictor.model]
    model = kind(triples_factory=training_set, embedding_dim=predictor.dim, loss=loss, random_seed=0)
    loop = SLCWATrainingLoop(
        model=model,
        triples_factory=training_set,
        optimizer=optimizer_resolver.make("adam", params=model.get_grad_params(), lr=predictor.lr),
        automatic_memory_optimization=False,
    )
    return loop, training_set


def paper_loop(predictor: na.LinkPredictor, triples: Ids) -> Loop:
    """Our model and training loop with the settings of pykg2vec."""
    training_set = factory(triples)
    model = make_model(predictor, training_set)
    model.loss = make_loss(predictor)
    loop = OneLookupTrainingLoop(
        model=model,
        triples_factory=training_set,
        optimizer=make_optimizer(predictor, model),
        negative_sampler=RedrawnNegativeSampler,
        automatic_memory_optimization=False,
    )
    return loop, training_set


def trainings(
    make: Callable[[], Loop], n_epochs: int, repeats: int = 3, *, batch_size: int = BATCH
) -> Callable[[], None]:
    """Make loops now, to train one per call; neither side pays for garbage collections over existing objects."""
    loops = [make() for _ in range(repeats)]

    def train() -> None:
        loop, training_set = loops.pop()
        gc.collect()
        gc.freeze()
        loop.train(training_set, num_epochs=n_epochs, batch_size=batch_size, use_tqdm=False, pin_memory=False)
        gc.unfreeze()

    return train


def random_triples(n: int) -> Ids:
    """Triples without repeats."""
    rng = np.random.default_rng(n)
    sizes = (N_ENTITIES, N_RELATIONS, N_ENTITIES)
    rows = np.stack([rng.integers(size, size=n + 1000) for size in sizes], axis=1)
    _, first = np.unique(rows, axis=0, return_index=True)
    return rows[np.sort(first)][:n].astype(np.int32)


def factory(triples: Ids) -> CoreTriplesFactory:
    """A PyKEEN factory."""
    ids = torch.from_numpy(triples.astype(np.int64))
    return CoreTriplesFactory(mapped_triples=ids, num_entities=N_ENTITIES, num_relations=N_RELATIONS)


def graph(triples: Ids) -> na.KnowledgeGraph:
    """Triples with names."""
    names = na.Vocabulary.from_names(
        (f"e{i:05d}" for i in range(N_ENTITIES)), (f"r{i:02d}" for i in range(N_RELATIONS))
    )
    return na.KnowledgeGraph(names, triples)


def verdict(what: str, ratio: float, bar: float) -> None:
    """Print a ratio and whether it meets the bar."""
    print(f"{what}: {ratio:.1f}x (bar {bar:g}: {'met' if ratio >= bar else 'not met'})", flush=True)


if __name__ == "__main__":
    main()
