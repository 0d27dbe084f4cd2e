"""Link predictors on PyKEEN: a growing training set, fast scores, ranks. Torch is loaded when it is needed."""

from nnmfaug.linkpred.combined import Combined, CombinedAnswer
from nnmfaug.linkpred.combined_storage import load_combined
from nnmfaug.linkpred.combining import combine
from nnmfaug.linkpred.predictor import LinkPredictor, TrainOptions
from nnmfaug.linkpred.storage import load_trained
from nnmfaug.linkpred.trained import Answer, Trained

__all__ = [
    "Answer",
    "Combined",
    "CombinedAnswer",
    "LinkPredictor",
    "TrainOptions",
    "Trained",
    "combine",
    "load_combined",
    "load_trained",
]
