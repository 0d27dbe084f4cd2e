"""Link predictors on PyKEEN: a growing training set, fast scores, ranks. Torch is loaded when it is needed."""

from nnmfaug.linkpred.predictor import LinkPredictor, TrainOptions
from nnmfaug.linkpred.storage import load_trained
from nnmfaug.linkpred.trained import Answer, Trained

__all__ = ["Answer", "LinkPredictor", "TrainOptions", "Trained", "load_trained"]
