"""Bodies of many parts, as the REST API takes and gives them."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from email.message import Message

from tests.stubs.marklogic import RestError


class Part:
    """One part: its headers' parameters and its content."""

    def __init__(self, head: bytes, content: bytes) -> None:
        headers = Message()
        for line in head.decode("utf-8").split("\r\n"):
            name, colon, value = line.partition(":")
            if colon:
                headers[name.strip()] = value.strip()
        self.content = content
        self.uri = headers.get_filename()
        self.category = str(headers.get_param("category", "content", header="Content-Disposition"))
        version = headers.get_param("versionId", None, header="Content-Disposition")
        self.version = str(version) if version is not None else None
        self.type = str(headers.get("Content-Type", "application/octet-stream")).partition(";")[0]


def split(body: bytes, content_type: str) -> list[Part]:
    """The parts of a body."""
    header = Message()
    header["Content-Type"] = content_type
    boundary = header.get_boundary()
    if header.get_content_type() != "multipart/mixed" or boundary is None:
        raise RestError(400, "RESTAPI-INVALIDCONTENT", f"Request without multipart body: {content_type}")
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary.encode())
    if len(pieces) < 3 or not pieces[-1].startswith(b"--"):
        raise RestError(400, "RESTAPI-INVALIDCONTENT", "Empty or unfinished multipart body")
    parts = []
    for piece in pieces[1:-1]:
        head, blank, content = piece.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        if not blank:
            raise RestError(400, "RESTAPI-INVALIDCONTENT", "A part without a blank line behind its headers")
        parts.append(Part(head, content))
    return parts


def join(parts: Sequence[tuple[dict[str, str], bytes]]) -> tuple[bytes, str]:
    """A body of parts, and its content type."""
    boundary = f"ML_BOUNDARY_{secrets.token_hex(8)}"
    body = b""
    for headers, content in parts:
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        body += f"--{boundary}\r\n{head}Content-Length: {len(content)}\r\n\r\n".encode() + content + b"\r\n"
    return body + f"--{boundary}--\r\n".encode(), f"multipart/mixed; boundary={boundary}"
