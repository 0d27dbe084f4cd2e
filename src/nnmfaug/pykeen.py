"""Integration with PyKEEN: ``import nnmfaug.pykeen`` registers the growing training loops by name.

Afterwards ``pipeline(training_loop="nnmfaug", training_loop_kwargs={"extra": "extra.tsv"}, …)`` trains on a
growing set; ``"nnmfauglcwa"`` is the same with LCWA, ``"nnmfaugshared"`` with negatives shared by the batch.
Interactions, losses and the data set ``dl50a`` are available by name, too. In ``hpo_pipeline``, pass the negative
sampler in ``training_loop_kwargs``: PyKEEN 1.11.1 drops it for any loop but its own.
"""

from pykeen.losses import loss_resolver
from pykeen.nn.modules import interaction_resolver
from pykeen.training import training_loop_resolver

from nnmfaug.linkpred.growing import ExtraWeighter, GrowingMixin, NNMFAugLCWATrainingLoop, NNMFAugTrainingLoop
from nnmfaug.linkpred.interactions import FastRotatE, FastTransE
from nnmfaug.linkpred.losses import SampledSoftmaxLoss, SelfAdversarialLoss
from nnmfaug.linkpred.shared_negatives import NNMFAugSharedTrainingLoop, SharedNegativesTrainingLoop

for _loop in (NNMFAugTrainingLoop, NNMFAugLCWATrainingLoop, NNMFAugSharedTrainingLoop):
    training_loop_resolver.register(_loop, raise_on_conflict=False)
for _loss in (SampledSoftmaxLoss, SelfAdversarialLoss):
    loss_resolver.register(_loss, raise_on_conflict=False)
for _interaction in (FastTransE, FastRotatE):
    interaction_resolver.register(_interaction, raise_on_conflict=False)

__all__ = [
    "ExtraWeighter",
    "FastRotatE",
    "FastTransE",
    "GrowingMixin",
    "NNMFAugLCWATrainingLoop",
    "NNMFAugSharedTrainingLoop",
    "NNMFAugTrainingLoop",
    "SampledSoftmaxLoss",
    "SelfAdversarialLoss",
    "SharedNegativesTrainingLoop",
]
