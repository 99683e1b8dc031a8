"""Certificates: a noise, what it costs, and the proof that nothing in its class costs less."""

from leastnoise.certificate.certificate import CLASSES, Certificate
from leastnoise.certificate.evidence import Evidence
from leastnoise.certificate.supporting_line import SupportingLine

__all__ = ["CLASSES", "Certificate", "Evidence", "SupportingLine"]
