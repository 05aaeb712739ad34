"""The three streams of a child: input sent, output captured and cut into lines, and when it last spoke."""

import asyncio
import subprocess

from moot.core.secrecy import Veil
from moot.process.capture import Capture
from moot.process.lines import Lines
from moot.process.pipes import ReadPipe, WritePipe
from moot.process.program import Program


class Streams:
    def __init__(self, program: Program, popen: subprocess.Popen[bytes]) -> None:
        assert popen.stdout is not None
        assert popen.stderr is not None
        self._loop = asyncio.get_running_loop()
        veil = Veil(program.secrets)
        self.stdout = Capture(program.output_cap, veil)
        self.stderr = Capture(program.output_cap, veil)
        self.lines = Lines(program.line_cap, self._resume, veil)
        self.heard_at = self._loop.time()
        self._out = ReadPipe(popen.stdout, self._take_out)
        self._err = ReadPipe(popen.stderr, self._take_err)
        self.stdin = None if popen.stdin is None else WritePipe(popen.stdin)
        if self.stdin is not None:
            self.stdin.send(program.stdin or b"")
            if not program.stdin_stays_open:
                self.stdin.finish()

    @property
    def is_held_back(self) -> bool:
        """The child may be waiting for us, not we for it."""
        return self._out.is_paused

    def finish(self) -> None:
        """Take what a dead child has left in its pipes, and close them."""
        self._out.drain()
        self._err.drain()
        self.close()

    def close(self) -> None:
        if self.stdin is not None:
            self.stdin.close()
        self._out.close()
        self._err.close()
        self.lines.end()

    def _take_out(self, chunk: bytes) -> None:
        self.heard_at = self._loop.time()
        self.stdout.take(chunk)
        self.lines.take(chunk)
        if not chunk:
            self.lines.end()
        if self.lines.is_full:
            self._out.pause()

    def _take_err(self, chunk: bytes) -> None:
        self.heard_at = self._loop.time()
        self.stderr.take(chunk)

    def _resume(self) -> None:
        self.heard_at = self._loop.time()
        self._out.resume()
