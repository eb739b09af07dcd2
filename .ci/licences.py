"""Licences of the installed packages that tfprof and its extras need, and which are permitted.

    python .ci/licences.py      one line for each package; exit 1 if one is not permitted

tfprof is under Apache-2.0 and contains none of these packages: they are installed beside it. So
every licence that lets a program import a package unchanged will do; what is listed here was read.
Packages that are not installed are not looked at; ``nox -s dependencies`` installs all of them.
"""

from __future__ import annotations

import re
import sys
from importlib import metadata

from packaging.requirements import Requirement

NO_USERS = {"docs", "dev", "oracle", "test"}
"""Extras to work on tfprof."""
PERMITTED = (
    *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT"),
    *("MIT-0", "MPL-2.0", "PSF-2.0", "Python-2.0", "Unlicense", "Zlib"),
)
OTHER_NAMES = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License Version 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "BSD 3-Clause": "BSD-3-Clause",
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
"""What metadata of before PEP 639 writes for an identifier of SPDX."""
NAMED = {
    "cupti-python": "NVIDIA's own; only 'tfprof[gpu]' installs it, from NVIDIA (docs/adr/0011)",
    "namex": "not in its metadata; Keras needs it, whose authors publish it under Apache-2.0",
    "nvidia-cuda-cupti": "NVIDIA's own; cupti-python needs it",
}
"""Packages without a permitted licence, each with the reason for which it may be needed."""


def licence_of(package: metadata.PackageMetadata) -> str:
    """An expression of SPDX, or what the metadata has instead; empty if it has nothing.

    Of several, such as a text and classifiers, the first that is permitted.
    """
    classifiers = package.get_all("Classifier") or []
    named = [c.rpartition(" :: ")[2] for c in classifiers if c.startswith("License :: ")]
    texts = [text for text in map(package.get, ("License-Expression", "License")) if text]
    found = [OTHER_NAMES.get(text, text) for text in texts if len(text) < 80 and "\n" not in text]
    found.append(" AND ".join(OTHER_NAMES.get(n, n) for n in named if n != "OSI Approved"))
    return next(filter(is_permitted, found), found[0])


def is_permitted(licence: str) -> bool:
    """Whether all parts of an expression are permitted, and one of each choice."""
    parts = re.sub(r"[()]", " ", licence).split(" AND ")
    return all(any(one.strip() in PERMITTED for one in part.split(" OR ")) for part in parts)


def needed(root: str = "tfprof") -> dict[str, metadata.Distribution]:
    """Installed packages that a package needs with its extras for users, by name."""
    extras = set(metadata.metadata(root).get_all("Provides-Extra") or ()) - NO_USERS
    found: dict[str, metadata.Distribution] = {}
    ahead = [(root, extra) for extra in ("", *extras)]
    done = set()
    while ahead:
        name, extra = ahead.pop()
        key = re.sub(r"[-_.]+", "-", name).lower()
        try:
            package = metadata.distribution(key)
        except metadata.PackageNotFoundError:
            continue
        if (key, extra) in done:
            continue
        done.add((key, extra))
        found[key] = package
        for one in map(Requirement, package.requires or ()):
            if one.marker is None or one.marker.evaluate({"extra": extra}):
                ahead += [(one.name, wanted) for wanted in ("", *one.extras)]
    del found[root]
    return found


def refused() -> list[str]:
    """Packages whose licence is neither permitted nor named, each with what it has."""
    licences = {name: licence_of(one.metadata) for name, one in needed().items()}
    return sorted(
        f"{name}: {licence or 'no licence in its metadata'}"
        for name, licence in licences.items()
        if not is_permitted(licence) and name not in NAMED
    )


if __name__ == "__main__":
    for name, package in sorted(needed().items()):
        print(f"{name} {package.version}: {NAMED.get(name) or licence_of(package.metadata)}")
    if bad := refused():
        sys.exit("not permitted (read them, then see .ci/licences.py): " + "; ".join(bad))
