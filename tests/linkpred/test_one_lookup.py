"""One look-up of a batch's entities makes the steps of four."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from nnmfaug.linkpred.growing import NNMFAugTrainingLoop
from nnmfaug.linkpred.one_lookup import OneLookupTrainingLoop
from tests.linkpred.loops import QUIET, make_extra, make_graph, make_loop, train

pytestmark = QUIET


@pytest.mark.parametrize("weight", [1.0, 0.25])
@pytest.mark.parametrize("n_negatives", [1, 3])
def test_weights_and_losses_are_those_of_four(weight: float, n_negatives: int) -> None:
    outcomes = []
    for kind in (NNMFAugTrainingLoop, OneLookupTrainingLoop):
        factory = make_graph()
        torch.manual_seed(0)
        loop: Any = make_loop(
            kind,
            factory,
            extra=make_extra(factory),
            extra_weight=weight,
            loss="bcewithlogits",
            negative_sampler_kwargs={"num_negs_per_pos": n_negatives},
        )
        train(loop, factory, epochs=3, batch_size=100)
        outcomes.append((loop.losses_per_epochs, [x.detach() for x in loop.model.parameters()]))
    (expected_losses, expected), (losses, parameters) = outcomes
    assert losses == pytest.approx(expected_losses, rel=1e-5)
    for one, other in zip(expected, parameters, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
