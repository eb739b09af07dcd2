"""Examine the machine, profiler servers and files, and name a remedy for each problem.

>>> import tfprof.doctor
>>> report = tfprof.doctor.examine()
>>> report.areas[0].title
'Packages'
"""

from __future__ import annotations

from tfprof.doctor.examination import examine
from tfprof.doctor.report import Area, Check, Report, Status

__all__ = ["Area", "Check", "Report", "Status", "examine"]
