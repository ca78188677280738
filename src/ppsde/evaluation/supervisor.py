"""A process that starts, reaps and kills worker processes, and ends with all of them when its owner has ended.

The owner may be killed at any moment and cannot clean up after itself then. So the workers are not its children but
those of the supervisor, a small process that never runs a user's code. It always listens, and ends when its owner
closes the socket between them or is no longer its parent. It kills a worker together with all processes that the worker
started; on Linux also those that left the worker's group, because each worker has a keeper that inherits them. It has
its own session, so that Ctrl-C in a terminal reaches the owner alone.

Workers are forked from it: everything they need is already imported, so that one is replaced in milliseconds. Unlike
those of `multiprocessing`, they do not import the user's script, so the script needs no `if __name__ == "__main__"`.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from .channel import Channel, WorkerEnd

READY = b""  # sent by a worker that has loaded the function; otherwise it sends a text that says why not
START, KILL = 1, 2
ORDER = struct.Struct("<II")  # START or KILL, and the number of a worker
NEWS = struct.Struct("<Ii")  # the number of a worker that ended, and its exit status, or minus a signal
LOOK_FOR_OWNER = 1.0  # seconds between two checks whether the owner still runs
SECONDS_TO_END = 5.0  # for the supervisor, before it is killed
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
CODE = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from ppsde.evaluation.supervisor import supervise; supervise(*sys.argv[2:])"
)


class Supervisor:
    """Starts a supervisor process and controls it, in the process that owns it."""

    def __init__(self, one_thread: bool) -> None:
        mine, theirs = socket.socketpair()
        source = str(Path(__file__).resolve().parents[2])
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-c", CODE, source, str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,
                env={**os.environ, **(dict.fromkeys(THREADS, "1") if one_thread else {})},
            )
        self._line = mine
        self._rest = b""

    def fileno(self) -> int:
        """Return the file descriptor that is readable when there is news; for `select.poll`."""
        return self._line.fileno()

    def start(self, number: int) -> Channel:
        """Start a worker and return the channel to it."""
        mine, theirs = socket.socketpair()
        with theirs:
            try:
                socket.send_fds(self._line, [ORDER.pack(START, number)], [theirs.fileno()])
            except BaseException:
                mine.close()
                raise
        return Channel(mine)

    def kill(self, number: int) -> None:
        """Kill a worker and the processes that it started."""
        self._line.sendall(ORDER.pack(KILL, number))

    def news(self) -> list[tuple[int, int]]:
        """Return number and exit status of the workers that ended since the last call.

        EOFError if the supervisor itself has ended.
        """
        with suppress(BlockingIOError):
            piece = self._line.recv(4096, socket.MSG_DONTWAIT)
            if not piece:
                raise EOFError("the supervisor has ended")
            self._rest += piece
        whole = len(self._rest) // NEWS.size * NEWS.size
        complete, self._rest = self._rest[:whole], self._rest[whole:]
        return list(NEWS.iter_unpack(complete))

    def close(self) -> None:
        """End all workers and the supervisor."""
        self._line.close()
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """Close the socket without waiting: after a fork, the supervisor is the parent process's and goes on."""
        self._line.close()
        self._process.returncode = 0  # or Popen would warn that the process still runs


def supervise(line: str, owner: str) -> None:
    """Run the supervisor until its owner closes the socket or ends; the process ends with it."""
    for name in ("cloudpickle", "threadpoolctl", "numpy.ma"):  # once here; a function may leave a worker no files
        with suppress(ImportError):
            import_module(name)
    _inherit_orphans()
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    listening, waking = socket.socketpair()
    listening.setblocking(False)
    waking.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # a handler is needed for the byte that wakes `poll`
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    workers: dict[int, int] = {}  # from process id of the keeper to worker number
    orders = socket.socket(fileno=int(line))
    poll = select.poll()  # `select` cannot wait for descriptors from 1024 on
    for source in (orders, listening):
        poll.register(source, select.POLLIN)
    try:
        while os.getppid() == int(owner):
            readable = [descriptor for descriptor, _ in poll.poll(1000 * LOOK_FOR_OWNER)]
            if listening.fileno() in readable:
                with suppress(BlockingIOError):
                    while listening.recv(4096):
                        pass
            _report_ended(workers, orders)
            if orders.fileno() in readable:
                order, descriptors, _, _ = socket.recv_fds(orders, ORDER.size, 1)
                if len(order) < ORDER.size:
                    break
                what, number = ORDER.unpack(order)
                if what == START:
                    _start(number, descriptors[0], workers, orders, [orders, listening, waking])
                else:
                    for process in [process for process, known in workers.items() if known == number]:
                        _kill_group(process)
    except (BrokenPipeError, ConnectionResetError):  # the owner closed the socket while news was sent
        pass
    finally:
        _end_all(list(workers))
        os._exit(0)


def _start(
    number: int,
    descriptor: int,
    workers: dict[int, int],
    orders: socket.socket,
    ours: list[socket.socket],
) -> None:
    """Fork the keeper of a worker, which forks the worker."""
    supervisor = os.getpid()
    try:
        process = os.fork()
    except OSError as error:  # too many processes, no memory
        os.close(descriptor)
        orders.sendall(NEWS.pack(number, error.errno or 1))
        return
    if process:
        os.close(descriptor)
        with suppress(OSError):
            os.setpgid(process, process)  # parent and child both do it, so that neither goes on before it is done
        workers[process] = number
        return
    try:
        os.setpgid(0, 0)
        for end in ours:
            end.close()
        _keep(descriptor, supervisor)
    finally:
        os._exit(1)


def _keep(descriptor: int, supervisor: int) -> None:
    """Run the keeper of one worker, a process that ends as the worker does.

    On Linux it inherits the processes that leave the worker's group. When it ends, they go to the supervisor, which
    thereby knows that their worker has ended.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # signals to the group are for others
    _inherit_orphans()
    _die_with_parent(supervisor)
    keeper = os.getpid()
    worker = os.fork()
    if worker == 0:
        _work(descriptor, keeper, before)
    os.close(descriptor)
    while True:
        process, status = os.waitpid(-1, 0)
        if process == worker:
            break
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(keeper, -code)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
    os._exit(code if code >= 0 else 1)


def _work(descriptor: int, keeper: int, mask: Any) -> None:
    """Run the worker until its owner closes the channel; the process ends with it."""
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        for heeded in (signal.SIGCHLD, signal.SIGTERM, signal.SIGHUP):
            signal.signal(heeded, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        _die_with_parent(keeper)
        serve(WorkerEnd(descriptor))
        status = 0
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


def _report_ended(workers: dict[int, int], orders: socket.socket) -> None:
    """Reap all children that have ended, and send the owner news of those that are keepers of workers.

    A child that is no keeper was started by a worker that has ended, and is killed.
    """
    news = []
    while True:
        try:
            # WNOWAIT: while the process is not reaped, no other process or group can get its id.
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            break
        if found is None:
            break
        if found.si_pid in workers:
            _kill_group(found.si_pid)
        _, status = os.waitpid(found.si_pid, 0)
        if found.si_pid in workers:
            news.append(NEWS.pack(workers.pop(found.si_pid), os.waitstatus_to_exitcode(status)))
        for process in _children():
            if process not in workers:
                _kill(process)
    if news:
        orders.sendall(b"".join(news))


def _kill(process: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(process, signal.SIGKILL)


def _kill_group(process: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)


def _end_all(workers: list[int]) -> None:
    """Kill the workers' groups, then all other processes that the supervisor inherited from them."""
    for process in workers:
        _kill_group(process)
    while True:
        try:
            os.waitpid(-1, os.WNOHANG)
            for process in _children():
                _kill(process)
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]
    except OSError:  # not Linux, or one without that list
        return []


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _inherit_orphans() -> None:
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def _die_with_parent(parent: int) -> None:
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it had ended before
        os._exit(1)


def serve(line: WorkerEnd) -> None:
    """Load the function, then evaluate points until the owner closes the channel."""
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        number, orders = line.receive()
        path, data, memory, one_thread = pickle.loads(orders)
        try:
            sys.path[:] = path
            call = pickle.loads(data)
        except BaseException as error:
            line.send(number, f"{type(error).__name__}: {error}".encode(errors="replace"))
            return
        np.random.seed()  # noqa: NPY002  # workers are forked: without this, all would draw the same numbers
        if one_thread:
            _limit_threads()
        ceiling = None if memory is None else _address_space() + memory
        line.send(number, READY)
        while True:
            number, rows = line.receive()
            x = pickle.loads(rows)
            with _at_most(ceiling):
                reply = call(x)
            _flush()
            line.send(number, pickle.dumps(reply))


def _limit_threads() -> None:
    """Limit numerical libraries to one thread, also those that ignore the environment variables."""
    with suppress(ImportError):
        from threadpoolctl import threadpool_limits

        threadpool_limits(1)


def _address_space() -> int:
    """Return the bytes of address space that this process uses now."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


@contextmanager
def _at_most(ceiling: int | None) -> Iterator[None]:
    """Limit the address space inside the block only, because reporting a failure needs memory too."""
    if ceiling is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [ceiling, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _flush() -> None:
    """Show the function's output now, so that it is not lost if the worker is killed later."""
    stream: Any
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()


def exit_in_words(status: int) -> str:
    """Return a sentence on how a process ended; `status` is its exit status, or minus the number of a signal."""
    if status >= 0:
        return f"the process ended with exit status {status}"
    try:
        return f"the process was killed by {signal.Signals(-status).name}"
    except ValueError:
        return f"the process was killed by signal {-status}"
