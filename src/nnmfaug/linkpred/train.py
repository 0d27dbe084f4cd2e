"""Train one model: seed, threads, PyKEEN's training loop, learning-rate decay, learning curve on valid."""

from __future__ import annotations

import gc
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from pykeen.training.callbacks import TrainingCallback
from pykeen.training.training_loop import NonFiniteLossError
from pykeen.triples import CoreTriplesFactory

from nnmfaug.core.checks import require
from nnmfaug.core.progress import report
from nnmfaug.evaluation.metrics import summary
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.io import to_pykeen
from nnmfaug.linkpred.adam import finish
from nnmfaug.linkpred.models import make_loss, make_model, make_optimizer
from nnmfaug.linkpred.one_lookup import OneLookupTrainingLoop
from nnmfaug.linkpred.ranking import ModelScores, rank
from nnmfaug.linkpred.redrawn_negatives import RedrawnNegativeSampler
from nnmfaug.linkpred.shared_negatives import NNMFAugSharedTrainingLoop
from nnmfaug.linkpred.stopping import StopOnValid
from nnmfaug.linkpred.trained import Trained
from nnmfaug.linkpred.training_set import TrainingSet

if TYPE_CHECKING:
    from nnmfaug.linkpred.predictor import LinkPredictor, TrainOptions


def train(settings: LinkPredictor, splits: Splits, data: TrainingSet, seed: int, options: TrainOptions) -> Trained:
    """Train a model; see :meth:`LinkPredictor.train`."""
    if not len(data.train):
        msg = "no triples to train on"
        raise ValueError(msg)
    settings.check_weights(weighted=data.weighted)
    _check_batches(settings, len(data.train))
    vocabulary = splits.vocabulary.union(data.train.vocabulary)
    data = data.with_vocabulary(vocabulary)
    factory = to_pykeen(data.train, reciprocal=settings.reciprocal)
    known = splits.together().with_vocabulary(vocabulary)
    known_without_test = splits.train_and_valid().with_vocabulary(vocabulary)
    started = time.perf_counter()
    valid = splits.valid.with_vocabulary(vocabulary)
    hidden = [vocabulary.entity_ids[name] for name in data.hidden]
    with _calm(options.n_threads), torch.random.fork_rng():
        torch.manual_seed(seed)
        model = make_model(settings, factory).to(_device(options.device))
        watch = _Watch(settings, valid, known_without_test, options.evaluate_every)
        stop = StopOnValid(settings, valid, known_without_test, hidden)
        loop = _make_loop(settings, model, factory, data)
        losses = _run(loop, settings, factory, [stop, watch])  # the curve has the last epoch, whichever it is
        for weights in model.parameters():
            finish(weights)
    seconds = time.perf_counter() - started - watch.seconds
    spent = {"train": seconds, "curve": watch.seconds}
    return Trained(settings, model, known, tuple(losses), tuple(watch.curve), spent, data.hidden)


def _check_batches(settings: LinkPredictor, n_triples: int) -> None:
    """Raise if an epoch would have no batch."""
    n_directions = 2 if settings.reciprocal else 1
    enough = not settings.whole_batches or n_triples * n_directions >= settings.batch_size
    require(enough, f"whole_batches=True: {n_triples} triples are less than a batch of {settings.batch_size}")


def _run(
    loop: OneLookupTrainingLoop | NNMFAugSharedTrainingLoop,
    settings: LinkPredictor,
    factory: CoreTriplesFactory,
    callbacks: Sequence[TrainingCallback],
) -> list[float]:
    try:
        losses = loop.train(
            factory,
            num_epochs=settings.epochs,
            batch_size=settings.batch_size,
            drop_last=settings.whole_batches,
            callbacks=callbacks,
            use_tqdm=False,
            pin_memory=False,
        )
    except NonFiniteLossError:
        msg = "the loss is not a number: the model has diverged, use a smaller learning rate"
        raise ValueError(msg) from None
    return losses or []


def _make_loop(
    settings: LinkPredictor,
    model: Any,  # noqa: ANN401
    factory: CoreTriplesFactory,
    data: TrainingSet,
) -> OneLookupTrainingLoop | NNMFAugSharedTrainingLoop:
    model.loss = make_loss(settings)
    parts: dict[str, Any] = {
        "model": model,
        "triples_factory": factory,
        "optimizer": make_optimizer(settings, model),
        "automatic_memory_optimization": False,  # it probes a batch, and overwrites sub_batch_size
        "extra": None if data.added is None else torch.from_numpy(data.added.triples.astype(np.int64)),
        "schedule": data.schedule,
        "extra_weight": torch.tensor(data.weights, dtype=torch.float32),
        "repeats": True,  # the arm decides whether added triples may repeat train
        "same_steps": data.same_steps,
    }
    if settings.shared:
        parts |= {"num_negatives": settings.negatives, "self_negative": settings.self_negative}
        return NNMFAugSharedTrainingLoop(**parts)
    sampler = RedrawnNegativeSampler if settings.redraw else None  # None is PyKEEN's
    sampler_settings = {"num_negs_per_pos": settings.negatives}
    return OneLookupTrainingLoop(negative_sampler=sampler, negative_sampler_kwargs=sampler_settings, **parts)


class _Watch(TrainingCallback):
    """Lowers the learning rate, evaluates on valid, reports progress."""

    def __init__(
        self, settings: LinkPredictor, valid: KnowledgeGraph, known: KnowledgeGraph, every: int | None
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.settings = settings
        self.valid = valid
        self.known = known
        self.every = every
        self.curve: list[dict[str, float]] = []
        self.seconds = 0.0

    def post_epoch(self, epoch: int, epoch_loss: float, **_: object) -> None:
        """After an epoch."""
        total = self.settings.epochs
        report("training", epoch, total)
        factor = min((by for at, by in self.settings.decay if epoch >= at * total), default=1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.lr * factor
        is_last = epoch == total or self.training_loop._should_stop  # noqa: SLF001  # PyKEEN has no other
        if self.every and len(self.valid) and (epoch % self.every == 0 or is_last):
            started = time.perf_counter()
            metrics = summary(rank(ModelScores(self.model), self.valid, self.known).filtered)
            self.seconds += time.perf_counter() - started
            self.curve.append({"epoch": epoch, "loss": float(epoch_loss), **metrics})


@contextmanager
def _calm(threads: int) -> Iterator[None]:
    """Set torch's threads, and keep live objects out of the garbage collector, which PyKEEN runs each epoch."""
    threads_before = torch.get_num_threads()
    frozen = gc.get_freeze_count()
    torch.set_num_threads(threads)
    if not frozen:  # objects frozen by others could not be told from ours afterwards
        gc.collect()
        gc.freeze()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse invariant checks")
            yield
    finally:
        torch.set_num_threads(threads_before)
        if not frozen:
            gc.unfreeze()


def _device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
