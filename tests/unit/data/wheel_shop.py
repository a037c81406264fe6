"""A shop of small packages on the disk, from which pip fetches without a network."""

from __future__ import annotations

import gzip
import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leadline.data import Entry, Wheel


@dataclass
class Shop:
    """Wheels in a folder, and entries of a catalogue that point at their files."""

    folder: Path
    version: str = "1.0"
    package: str = "tiny-data"
    contents: dict[str, bytes] = field(default_factory=dict[str, bytes])

    @property
    def file(self) -> Path:
        return self.folder / f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"

    def stock(self, members: Mapping[str, bytes]) -> None:
        """Put these files into the package; one whose name ends in .gz is compressed."""
        self.contents |= {f"tiny_data/{name}": content for name, content in members.items()}
        info = f"tiny_data-{self.version}.dist-info"
        with zipfile.ZipFile(self.file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in self.contents.items():
                archive.writestr(name, gzip.compress(content) if name.endswith(".gz") else content)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-data\nVersion: {self.version}\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")

    def entry(self, name: str, content: bytes, member: str | None = None) -> Entry:
        return Entry(
            name=name,
            title=name,
            about="a small file",
            licence="CC0-1.0",
            wheel=Wheel(self.package, self.version),
            wheel_licence="CC0-1.0",
            member=f"tiny_data/{member or name + '.txt'}",
            sha256=hashlib.sha256(content).hexdigest(),
            size_bytes=len(content),
        )
