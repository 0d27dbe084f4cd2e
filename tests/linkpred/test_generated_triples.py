"""Generated triples are checked before training: from a file or as ids, new, known, and each once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from pykeen.triples import CoreTriplesFactory
from torch import Tensor

from nnmfaug.core.errors import DataError
from nnmfaug.linkpred.growing import NNMFAugTrainingLoop
from tests.linkpred.loops import QUIET, Recorder, make_extra, make_graph, make_loop, train

pytestmark = QUIET


def write(path: Path, factory: Any, triples: Tensor) -> Path:
    lines = [
        f"{factory.entity_id_to_label[h]}\t{factory.relation_id_to_label[r]}\t{factory.entity_id_to_label[t]}\n"
        for h, r, t in triples.tolist()
    ]
    path.write_text("".join(lines))
    return path


def test_a_file_keeps_its_order(tmp_path: Path) -> None:
    factory = make_graph()
    extra = make_extra(factory)
    path = write(tmp_path / "extra.tsv", factory, extra)
    for given in (path, str(path)):
        assert torch.equal(make_loop(NNMFAugTrainingLoop, factory, extra=given).extra, extra)


def test_a_file_is_read_with_the_ids_of_the_factory(tmp_path: Path) -> None:
    factory: Any = make_graph()
    ids = factory.mapped_triples.clone()
    ids[:, [0, 2]] = 13 - ids[:, [0, 2]]
    entity_ids = {name: 13 - i for name, i in factory.entity_to_id.items()}
    mirrored = type(factory)(ids, entity_to_id=entity_ids, relation_to_id=factory.relation_to_id)
    assert mirrored.label_triples(mirrored.mapped_triples).tolist() == (
        factory.label_triples(factory.mapped_triples).tolist()
    )
    extra = make_extra(mirrored)
    path = write(tmp_path / "extra.tsv", mirrored, extra)
    assert torch.equal(make_loop(NNMFAugTrainingLoop, mirrored, extra=path).extra, extra)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (torch.zeros((3, 2), dtype=torch.long), r"shape \(3, 2\).*must be ids of shape \(n, 3\), int64"),
        (torch.zeros(3, dtype=torch.long), r"extra of shape \(3,\)"),
        (torch.zeros((3, 3), dtype=torch.int32), "type torch.int32: must be ids"),
        (torch.zeros((3, 3)), "type torch.float32: must be ids"),
        (torch.tensor([[0, 0, 14]]), "outside of the 14 entities and 55 relations"),
        (torch.tensor([[0, 55, 0]]), "outside of the 14 entities and 55 relations"),
        (torch.tensor([[-1, 0, 0]]), "outside of the 14 entities and 55 relations"),
    ],
)
def test_what_is_no_list_of_ids_is_refused(extra: Tensor, message: str) -> None:
    for inverse in (False, True):
        with pytest.raises(ValueError, match=message):
            make_loop(NNMFAugTrainingLoop, make_graph(inverse=inverse), extra=extra)


def test_triples_of_train_once_more_cannot_weigh_less() -> None:
    factory = make_graph()
    again = factory.mapped_triples[:5]
    make_loop(NNMFAugTrainingLoop, factory, extra=again, repeats=True)
    with pytest.raises(ValueError, match="repeated train triples need weight 1"):
        make_loop(NNMFAugTrainingLoop, factory, extra=again, repeats=True, extra_weight=0.5)


def test_triples_that_are_not_new_are_refused_unless_allowed() -> None:
    factory = make_graph()
    new = make_extra(factory, 10)
    for old in (new[3:4], factory.mapped_triples[7:8]):
        extra = torch.cat([new, old])
        with pytest.raises(ValueError, match="repeats a triple, or contains a training triple"):
            make_loop(NNMFAugTrainingLoop, factory, extra=extra)
        seen = Recorder()
        loop = make_loop(NNMFAugTrainingLoop, factory, extra=extra, repeats=True)
        train(loop, factory, 1, callbacks=seen)
        assert seen.positives(1).count(tuple(old[0].tolist())) == 2


def test_an_unknown_name_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "extra.tsv", make_graph(), make_extra(make_graph(), 2))
    path.write_text(path.read_text() + "atlantis\tembassy\tcuba\n")
    with pytest.raises(DataError, match=r"(?s)extra\.tsv:3.*atlantis"):
        make_loop(NNMFAugTrainingLoop, make_graph(), extra=path)


def test_a_file_needs_a_factory_with_names(tmp_path: Path) -> None:
    factory = make_graph()
    path = write(tmp_path / "extra.tsv", factory, make_extra(factory, 2))
    nameless = CoreTriplesFactory(factory.mapped_triples, factory.num_entities, factory.num_relations)
    with pytest.raises(ValueError, match=r"extra\.tsv: the triples factory has no names to read it with"):
        make_loop(NNMFAugTrainingLoop, nameless, extra=path)
    assert len(make_loop(NNMFAugTrainingLoop, nameless, extra=make_extra(factory, 2)).extra) == 2
