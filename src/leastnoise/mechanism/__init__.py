"""A noise with the promise it keeps, and the answers it gives."""

from leastnoise.mechanism.answer import Answer, Answers
from leastnoise.mechanism.mechanism import Drawn, Mechanism, calibrate, hold

__all__ = ["Answer", "Answers", "Drawn", "Mechanism", "calibrate", "hold"]
