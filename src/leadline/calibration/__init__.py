"""The tool measured by itself: readers of known truth through its suites, and a certificate of what it found."""

from leadline.calibration.calibrating import SEED, calibrate
from leadline.calibration.certificate import Certificate, check_place
from leadline.calibration.checks import Check

__all__ = ["SEED", "Certificate", "Check", "calibrate", "check_place"]
