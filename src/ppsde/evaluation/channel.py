"""Messages between a worker and its owner: framed, numbered and checked, so that nobody else can answer for a worker.

The user's function runs in the worker's process and may write to any of its file descriptors. So each message begins
with a key that only the two ends know, and with the number of the request that it answers. The owner never waits for
bytes: neither a message that is cut off nor a worker that does not read can stop it. A process that the worker forks
does not keep the channel.
"""

from __future__ import annotations

import os
import secrets
import socket
import struct
import zlib

KEY = 16  # bytes
FRAME = struct.Struct(f"<{KEY}sQQI")  # key, number, length of the content, its CRC-32
PIECE = 2**18
MOST_AT_ONCE = 2**26  # bytes read in one call, so that a writer without an end does not hold the owner


class Stray(Exception):
    """Raised when bytes arrive that the other end of the channel did not send."""


class Channel:
    """The owner's end of a channel, which never waits."""

    def __init__(self, line: socket.socket) -> None:
        line.setblocking(False)
        self._line = line
        self._key = secrets.token_bytes(KEY)
        self._unread = bytearray()
        self._unsent = bytearray()

    def fileno(self) -> int:
        return self._line.fileno()

    @property
    def sending(self) -> bool:
        """Whether a part of a message waits until the worker reads."""
        return bool(self._unsent)

    def send(self, number: int, content: bytes) -> None:
        """Send a message, or as much of it as the worker can take now; `flush` sends the rest."""
        self._unsent += FRAME.pack(self._key, number, len(content), zlib.crc32(content)) + content
        self.flush()

    def flush(self) -> None:
        """Send what waits, as much as possible; OSError if the worker has ended."""
        try:
            while self._unsent:
                del self._unsent[: self._line.send(memoryview(self._unsent)[:PIECE].tobytes())]
        except BlockingIOError:
            return

    def receive(self) -> list[tuple[int, bytes]]:
        """Return number and content of the messages that have arrived completely.

        EOFError or OSError if the worker has closed the channel, `Stray` if it was not the worker who wrote.
        """
        ended: Exception | None = None
        try:
            for _ in range(MOST_AT_ONCE // PIECE):
                piece = self._line.recv(PIECE)
                if not piece:
                    raise EOFError("the worker has closed the channel")
                self._unread += piece
        except BlockingIOError:
            pass
        except (EOFError, OSError) as error:
            ended = error
        messages = []
        while (message := self._message()) is not None:
            messages.append(message)
        if ended is not None and not messages:
            raise ended  # with messages, the next call will find the end again
        return messages

    def _message(self) -> tuple[int, bytes] | None:
        unread = self._unread
        if unread[:KEY] != self._key[: len(unread)]:
            raise Stray
        if len(unread) < FRAME.size:
            return None
        _, number, length, checksum = FRAME.unpack_from(unread)
        if len(unread) < FRAME.size + length:
            return None
        content = bytes(unread[FRAME.size : FRAME.size + length])
        if zlib.crc32(content) != checksum:
            raise Stray
        del unread[: FRAME.size + length]
        return number, content

    def close(self) -> None:
        self._line.close()


class WorkerEnd:
    """The worker's end of a channel. It learns the key from the first message, before the user's function is loaded."""

    def __init__(self, descriptor: int) -> None:
        self._line = socket.socket(fileno=descriptor)
        self._key: bytes | None = None
        os.register_at_fork(after_in_child=self._line.close)

    def receive(self) -> tuple[int, bytes]:
        """Wait for the next message and return its number and content; EOFError if the owner has closed the channel."""
        key, number, length, checksum = FRAME.unpack(self._exactly(FRAME.size))
        content = self._exactly(length)
        self._key = key if self._key is None else self._key
        if key != self._key or zlib.crc32(content) != checksum:
            raise EOFError("the function has read from the channel")
        return number, content

    def send(self, number: int, content: bytes) -> None:
        """Send the answer to the request with this number."""
        assert self._key is not None
        self._line.sendall(FRAME.pack(self._key, number, len(content), zlib.crc32(content)) + content)

    def _exactly(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            piece = self._line.recv(min(length - len(data), PIECE))
            if not piece:
                raise EOFError("the owner has closed the channel")
            data += piece
        return bytes(data)
