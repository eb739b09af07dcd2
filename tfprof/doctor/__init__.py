"""Why does nothing work, or show: the machine, profiler servers and files, each with a remedy.

>>> import tfprof.doctor
>>> report = tfprof.doctor.examine()
>>> report.areas[0].title
'Packages'
"""

from __future__ import annotations

from tfprof.doctor.examination import examine
from tfprof.doctor.report import Area, Check, Report, Status

__all__ = ["Area", "Check", "Report", "Status", "examine"]
