"""Certificates: a noise, what it costs, and the proof that nothing in its class costs less."""

from leastnoise.certificate.canonical_bound import CanonicalBound
from leastnoise.certificate.certificate import CLASSES, Certificate
from leastnoise.certificate.comb_bound import CombBound
from leastnoise.certificate.evidence import Evidence
from leastnoise.certificate.lattice_bound import Frame, LatticeBound
from leastnoise.certificate.supporting_line import SupportingLine

__all__ = [
    "CLASSES",
    "CanonicalBound",
    "Certificate",
    "CombBound",
    "Evidence",
    "Frame",
    "LatticeBound",
    "SupportingLine",
]
