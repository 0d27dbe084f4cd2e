"""Training as PyKEEN does it, with the growing set and shared negatives: one call, nothing left behind."""

from __future__ import annotations

import gc
import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from pykeen.training.callbacks import TrainingCallback
from pykeen.training.training_loop import NonFiniteLossError
from pykeen.triples import CoreTriplesFactory
from torch import Tensor

from nnmfaug.core.progress import report
from nnmfaug.evaluation.metrics import summary
from nnmfaug.graph.knowledge_graph import KnowledgeGraph
from nnmfaug.graph.splits import Splits
from nnmfaug.io import to_pykeen
from nnmfaug.linkpred.growing import NNMFAugTrainingLoop
from nnmfaug.linkpred.models import make_loss, make_model, make_optimizer
from nnmfaug.linkpred.ranking import rank
from nnmfaug.linkpred.schedule import Schedule
from nnmfaug.linkpred.shared_negatives import NNMFAugSharedTrainingLoop
from nnmfaug.linkpred.trained import Trained

if TYPE_CHECKING:
    from nnmfaug.linkpred.predictor import LinkPredictor, TrainOptions


def train(
    settings: LinkPredictor,
    splits: Splits,
    extra: KnowledgeGraph | None,
    schedule: Schedule,
    seed: int,
    options: TrainOptions,
) -> Trained:
    """Train a model; see :meth:`LinkPredictor.train`."""
    if not len(splits.train):
        msg = "no triples to train on"
        raise ValueError(msg)
    factory = to_pykeen(splits.train, reciprocal=settings.reciprocal)
    known = splits.together()
    started = time.perf_counter()
    with _calm(options.threads), torch.random.fork_rng():
        torch.manual_seed(seed)
        model = make_model(settings, factory).to(_device(options.device))
        watch = _Watch(settings, splits, known, options.evaluate_every)
        loop = _make_loop(settings, model, factory, _extra_ids(extra, splits), schedule, options.extra_weight)
        losses = _run(loop, settings, factory, watch)
    seconds = time.perf_counter() - started - watch.seconds
    spent = {"train": seconds, "curve": watch.seconds}
    return Trained(settings, model, known, tuple(losses), tuple(watch.curve), spent)


def _run(
    loop: NNMFAugTrainingLoop | NNMFAugSharedTrainingLoop,
    settings: LinkPredictor,
    factory: CoreTriplesFactory,
    watch: _Watch,
) -> list[float]:
    try:
        losses = loop.train(
            factory,
            num_epochs=settings.epochs,
            batch_size=settings.batch_size,
            callbacks=watch,
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
    extra: Tensor | None,
    schedule: Schedule,
    extra_weight: float | tuple[float, ...],
) -> NNMFAugTrainingLoop | NNMFAugSharedTrainingLoop:
    if settings.loss == "margin" and extra_weight not in (1, ()):
        msg = "the margin loss takes no weights of triples: use weight 1, or a model with another loss"
        raise ValueError(msg)
    model.loss = make_loss(settings)
    parts: dict[str, Any] = {
        "model": model,
        "triples_factory": factory,
        "optimizer": make_optimizer(settings, model),
        "automatic_memory_optimization": False,  # it probes a batch, and overwrites sub_batch_size
        "extra": extra,
        "schedule": schedule,
        "extra_weight": torch.tensor(extra_weight, dtype=torch.float32),
        "repeats": True,  # whether they are new is for the arm to say
    }
    if settings.shared:
        parts |= {"num_negatives": settings.negatives, "self_negative": settings.self_negative}
        return NNMFAugSharedTrainingLoop(**parts)
    return NNMFAugTrainingLoop(negative_sampler_kwargs={"num_negs_per_pos": settings.negatives}, **parts)


class _Watch(TrainingCallback):
    """Lowers the learning rate, looks at valid, tells how far training is."""

    def __init__(self, settings: LinkPredictor, splits: Splits, known: KnowledgeGraph, every: int | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.settings, self.valid, self.known, self.every = settings, splits.valid, known, every
        self.curve: list[dict[str, float]] = []
        self.seconds = 0.0

    def post_epoch(self, epoch: int, epoch_loss: float, **_: object) -> None:
        """After an epoch."""
        total = self.settings.epochs
        report("training", epoch, total)
        factor = min((by for at, by in self.settings.decay if epoch >= at * total), default=1.0)
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.lr * factor
        if self.every and len(self.valid) and (epoch % self.every == 0 or epoch == total):
            started = time.perf_counter()
            found = summary(rank(self.model, self.valid, self.known).filtered)
            self.seconds += time.perf_counter() - started
            self.curve.append({"epoch": epoch, "loss": float(epoch_loss), **found})


@contextmanager
def _calm(threads: int | None) -> Iterator[None]:
    """Set torch's threads, and keep what is alive out of the garbage collector, which PyKEEN runs each epoch."""
    before, frozen = torch.get_num_threads(), gc.get_freeze_count()
    torch.set_num_threads(threads or min(os.cpu_count() or 1, 2))
    if not frozen:  # what somebody else has frozen could not be told from ours afterwards
        gc.collect()
        gc.freeze()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse invariant checks")
            yield
    finally:
        torch.set_num_threads(before)
        if not frozen:
            gc.unfreeze()


def _device(name: str) -> torch.device:
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        msg = "device 'cuda': there is none here; use auto or cpu"
        raise ValueError(msg)
    return torch.device(name)


def _extra_ids(extra: KnowledgeGraph | None, splits: Splits) -> Tensor | None:
    return None if extra is None else _ids(extra.with_vocabulary(splits.vocabulary))


def _ids(graph: KnowledgeGraph) -> Tensor:
    return torch.from_numpy(graph.triples.astype(np.int64))
