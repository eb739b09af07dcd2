"""Paths of users: on this machine, or URLs of another one.

>>> as_path("gs://bucket/logs") / "plugins" / "profile"
RemotePath('gs://bucket/logs/plugins/profile')
>>> as_path("https://ann:pw@host/logs?sig=secret")
RemotePath('https://host/logs')
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias, TypeGuard
from urllib.parse import unquote, urlsplit

from tfprof.errors import InputError, UsageError
from tfprof.files.remote.details import CHAIN, Details, Known

if TYPE_CHECKING:
    from tfprof.core.progress import Progress

_URL = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+)://(?P<user>[^/?#]*@)?(?P<rest>.*)", re.DOTALL
)
"""A scheme has two letters or more: ``C://`` is a drive."""

_LOCAL = ("file", "local")
_WEB = ("http", "https")
"""Schemes in which a question mark ends the path. Elsewhere it may be a part of a name."""


class RemotePath(str):
    """A file or folder of another machine.

    Its text is the URL without secrets: without user name and password, without a query, which is
    often a signature, and without the file systems that it is chained to. ``address`` opens it. It
    has the properties and methods of ``pathlib.Path`` that readers use.

    Attributes:
        address: The whole URL.
        known: Cached answers about it, its folder and its content.
    """

    address: str
    known: Known
    _base: str
    _root: str
    _query: str
    _names: tuple[str, ...]
    _ends_in_slash: bool

    def __new__(cls, address: str, known: Known | None = None) -> RemotePath:  # noqa: D102
        match = _URL.fullmatch(address)
        if match is None:
            raise UsageError(f"{address!r} is not a URL")
        rest = match["rest"]
        end = re.search(r"[?#]|::" if match["scheme"].lower() in _WEB else CHAIN, rest)
        path, query = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
        host, slash, inside = path.partition("/")
        shown = f"{match['scheme']}://{host}{(slash + inside).rstrip('/')}"
        self = super().__new__(cls, shown)
        self.address, self.known = address, known or Known()
        self._base = f"{match['scheme']}://{match['user'] or ''}{host}"
        self._root, self._query = f"{match['scheme']}://{host}", query
        self._names = tuple(name for name in inside.split("/") if name)
        self._ends_in_slash = inside.endswith("/")
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return RemotePath, (self.address,)

    def __str__(self) -> str:
        return self  # not a plain text, which would have lost the address

    def __repr__(self) -> str:
        return f"RemotePath({super().__repr__()})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, RemotePath):
            return self.key == other.key
        return not self.has_secrets and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return super().__hash__()

    @property
    def scheme(self) -> str:
        """Such as ``gs``."""
        return self._root.partition(":")[0].lower()

    @property
    def has_secrets(self) -> bool:
        """Whether the address holds parts that are not shown."""
        return self._base != self._root or bool(self._query)

    # As of pathlib.Path

    @property
    def name(self) -> str:
        """The last name."""
        return self._names[-1] if self._names else self._root.partition("://")[2]

    @property
    def suffix(self) -> str:
        """The end of the name, with its dot."""
        return PurePosixPath(self.name).suffix

    @property
    def parts(self) -> tuple[str, ...]:
        """The server or bucket, and the names."""
        return (self._root, *self._names)

    @property
    def parent(self) -> RemotePath:
        """The folder that holds it."""
        return self._at(self._names[:-1])

    @property
    def parents(self) -> tuple[RemotePath, ...]:
        """All folders that hold it, the nearest first."""
        return tuple(self._at(self._names[:n]) for n in reversed(range(len(self._names))))

    def __truediv__(self, name: str | os.PathLike[str]) -> RemotePath:
        return self.joinpath(name)

    def joinpath(self, *names: str | os.PathLike[str]) -> RemotePath:
        """A path below this one, on the same server and in the same file system.

        Raises:
            InputError: A name holds ``::``, which chains file systems.
        """
        way = list(self._names)
        for part in (part for name in names for part in PurePosixPath(name).parts):
            _check_unchained(part)
            if part == "..":
                del way[-1:]
            elif part != "/":
                way.append(part)
        return self._at(tuple(way))

    def with_name(self, name: str) -> RemotePath:
        """A path beside this one; errors as for ``joinpath``."""
        _check_unchained(name)
        return self._at((*self._names[:-1], name))

    def with_suffix(self, suffix: str) -> RemotePath:
        """The path with another suffix."""
        return self.with_name(PurePosixPath(self.name).with_suffix(suffix).name)

    def relative_to(self, folder: RemotePath) -> PurePosixPath:
        """The path relative to a folder that holds it.

        Raises:
            ValueError: It does not.
        """
        n_names = len(folder._names)
        if self._base != folder._base or self._names[:n_names] != folder._names:
            raise ValueError(f"{self} is not in {folder}")
        return PurePosixPath(*self._names[n_names:])

    def resolve(self) -> RemotePath:
        """Itself."""
        return self

    def absolute(self) -> RemotePath:
        """Itself."""
        return self

    def exists(self) -> bool:
        """Whether there is such a file or folder.

        Raises:
            InputError: The server denies the answer, or does not give it.
        """
        return self.details() is not None

    def is_dir(self) -> bool:
        """Whether it is a folder; errors as for ``exists``."""
        found = self._listed()[1] or self.details()
        return found is not None and found.is_folder

    def is_file(self) -> bool:
        """Whether it is a file; errors as for ``exists``."""
        found = self._listed()[1] or self.details()
        return found is not None and not found.is_folder

    def stat(self) -> Details:
        """The server's details.

        Raises:
            InputError: There is no such file, or as for ``exists``.
        """
        found = self.details()
        if found is None:
            raise InputError(
                f"{self}: cannot be read: there is no such file or folder. Check the URL"
            )
        return found

    def state(self) -> Details:
        """As ``stat``, but from a list if there is one; lists of web servers have only names."""
        return self._listed()[1] or self.stat()

    def iterdir(self) -> Iterator[RemotePath]:
        """The content of a folder, by name; errors as for ``exists``."""
        return iter([self / name for name in sorted(self.listing())])

    def walk(self) -> Iterator[tuple[RemotePath, list[str], list[str]]]:
        """Folders from here on with the names of what they hold, as ``os.walk``."""
        held = self.listing()
        folders = sorted(name for name, found in held.items() if found.is_folder)
        yield self, folders, sorted(held.keys() - set(folders))
        for name in folders:  # the caller may have removed some
            yield from (self / name).walk()

    def glob(self, pattern: str) -> Iterator[RemotePath]:
        """The content of a folder whose names match a pattern."""
        return (path for path in self.iterdir() if PurePosixPath(path.name).match(pattern))

    def open(self, mode: str = "rb", *, watch: Progress | None = None) -> BinaryIO:
        """The whole file, in a copy on this machine.

        Args:
            mode: Remote files are only read.
            watch: Receives the progress of fetching it.

        Raises:
            InputError: It cannot be fetched.
        """
        from tfprof.files.remote.fetch import local_copy

        assert mode == "rb"
        return local_copy(self, watch)

    def read_bytes(self) -> bytes:
        """The content of the file; errors as for ``open``."""
        with self.open() as stream:
            return stream.read()

    def open_parts(self) -> BinaryIO:
        """The file, fetched only where it is read; errors as for ``open``."""
        from tfprof.files.remote.fetch import parts_of

        return parts_of(self)

    # Requests to the server

    def details(self) -> Details | None:
        """The server's details; None if there is no such file or folder.

        Raises:
            InputError: The server denies the answer, or does not give it.
        """
        from tfprof.files.remote.access import details

        is_listed, found = self._listed()
        if is_listed and (found is None or found.is_complete):
            return found
        return self.known.once("details", self.key, lambda: details(self))

    def _listed(self) -> tuple[bool, Details | None]:
        """Whether the list of its folder is cached, and its details in that list."""
        above = self.known.recent("listing", self.parent.key) if self._names else None
        return above is not None, (above or {}).get(self.name)

    def listing(self) -> dict[str, Details]:
        """The content of a folder, by name; errors as for ``details``."""
        from tfprof.files.remote.access import listing

        return self.known.once("listing", self.key, lambda: listing(self))

    @property
    def key(self) -> str:
        """The address without a slash at its end."""
        return "/".join((self._base, *self._names)) + self._query

    @property
    def as_folder(self) -> str:
        """The address with a slash at the end of its path."""
        return "/".join((self._base, *self._names, "")) + self._query

    @property
    def identity(self) -> str:
        """The address without name and password, to tell files apart."""
        return "/".join((self._root, *self._names)) + self._query

    @property
    def ends_in_slash(self) -> bool:
        """Whether the address has the form of a folder."""
        return self._ends_in_slash

    def _at(self, names: tuple[str, ...]) -> RemotePath:
        return RemotePath("/".join((self._base, *names)) + self._query, self.known)


def _check_unchained(name: str) -> None:
    if CHAIN in name:
        raise InputError(
            f"{name!r}: is not opened, as {CHAIN} would lead into another file system, and only "
            "you may name one"
        )


AnyPath: TypeAlias = "Path | RemotePath"
"""A path of this machine or of another one."""


def is_remote(path: object) -> TypeGuard[str]:
    """Whether it names a file or folder of another machine."""
    if not isinstance(path, str) or isinstance(path, RemotePath):
        return isinstance(path, RemotePath)
    match = _URL.match(path)
    return match is not None and match["scheme"].lower() not in _LOCAL


def as_path(path: str | os.PathLike[str]) -> AnyPath:
    """A path of this machine, or of the one that a URL names; ``file://`` is this one.

    Raises:
        UsageError: It is the URL of a file of this machine, with the name of another one.
    """
    if isinstance(path, RemotePath):
        return path
    if not isinstance(path, str) or (match := _URL.match(path)) is None:
        return Path(path)
    if match["scheme"].lower() not in _LOCAL:
        return RemotePath(path)
    from urllib.request import url2pathname  # slow to import

    url = urlsplit(path)
    if url.netloc not in ("", "localhost"):
        raise UsageError(
            f"{path}: names a file of the machine {url.netloc!r}; a file of this one has three "
            f"slashes: file:///{unquote(url.netloc + url.path)}"
        )
    return Path(url2pathname(url.path))


def resolved(path: str | os.PathLike[str]) -> AnyPath:
    """A path without links; errors as for ``as_path``.

    Of links that lead to each other it keeps the name, where ``Path.resolve`` raises RuntimeError
    before Python 3.13.
    """
    found = as_path(path)
    return found if isinstance(found, RemotePath) else Path(os.path.realpath(found))


def named(path: str | os.PathLike[str]) -> str:
    """A path as a text without secrets, from which it can be opened."""
    text = path if isinstance(path, RemotePath) else os.fspath(path)
    if not isinstance(text, str) or not _URL.match(text):
        return text
    return str(as_path(text))
