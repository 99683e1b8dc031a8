"""Certificates: proofs that noise satisfies its guarantee, with a lower bound for its cost."""

from leastnoise.certificate.canonical_bound import CanonicalBound, build_at_epsilon_0, choose_bits
from leastnoise.certificate.certificate import CLASSES, Certificate
from leastnoise.certificate.document import certificate_to_json, noise_to_json, store_noise
from leastnoise.certificate.evidence import (
    SHAPE_WORDS,
    CombBound,
    Evidence,
    SupportingLine,
    relative_gap,
)
from leastnoise.certificate.lattice_bound import Frame, LatticeBound

__all__ = [
    "CLASSES",
    "SHAPE_WORDS",
    "CanonicalBound",
    "Certificate",
    "CombBound",
    "Evidence",
    "Frame",
    "LatticeBound",
    "SupportingLine",
    "build_at_epsilon_0",
    "certificate_to_json",
    "choose_bits",
    "noise_to_json",
    "relative_gap",
    "store_noise",
]
