"""Link predictors on PyKEEN: training that grows, fast scores, ranks. Importing this loads torch only when used."""

from nnmfaug.linkpred.predictor import LinkPredictor, TrainOptions
from nnmfaug.linkpred.trained import Answer, Trained, load_trained

__all__ = ["Answer", "LinkPredictor", "TrainOptions", "Trained", "load_trained"]
