"""Attacks on workers: what a function may do to the process it runs in, on purpose or by accident.

    PYTHONPATH=src:tests python -m adversary.attacks --attacks 200 --out attacks.json

makes so many of them, each kind with other seeds, methods and numbers of workers; a second call goes on with the file.
With --record the counts go to the record `attacks` of the documents, with --record attacks-sample to that of a later,
smaller sample.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import multiprocessing
import os
import pickle
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from processes import all_gone, marked

import ppsde

FIRST, LAST = 3, 40  # descriptors that may be the worker's own
Attack = Callable[[], Any]  # returns the value of the point, None for the right one


def fork_and(child: Callable[[], Any]) -> Any:
    """Let the child do something; the value is the parent's."""
    return child() if os.fork() == 0 else None


def wrong() -> float:
    return -1e9


def raise_in_child() -> None:
    raise RuntimeError("in the child")


def exec_nothing() -> None:
    os.execvp("no-such-solver", ["no-such-solver"])


def on_each_descriptor(act: Callable[[int], Any]) -> None:
    for descriptor in range(FIRST, LAST):
        with suppress(OSError):
            act(descriptor)


def read_without_waiting(descriptor: int) -> None:
    os.set_blocking(descriptor, False)
    os.read(descriptor, 10_000)


def replace_by_nothing(descriptor: int) -> None:
    os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)


def daemon() -> None:
    """Start a process that belongs to nobody."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sleep", ["sleep", "1000"])
        os._exit(0)


def many_children() -> None:
    for _ in range(30):
        if os.fork() == 0:
            os._exit(0)


def threads_that_go_on() -> None:
    for _ in range(5):
        threading.Thread(target=time.sleep, args=(1000,), daemon=False).start()


def later(act: Callable[[], Any], seconds: float = 0.05) -> None:
    """Do it when another point may be at its turn."""
    threading.Timer(seconds, act).start()


def in_another_session() -> None:
    subprocess.Popen(["sleep", "1000"], start_new_session=True)


def deaf() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    time.sleep(1000)


def group_of_its_own() -> None:
    os.setpgid(0, 0)
    time.sleep(1000)


def session_of_its_own() -> None:
    if os.getpid() != os.getpgid(0):
        os.setsid()
    time.sleep(1000)


def group_told_to_end() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)


def much_memory() -> None:
    kept = [np.ones(2**22) for _ in range(4)]
    raise MemoryError(len(kept))


def deep() -> None:
    sys.setrecursionlimit(1_000_000)

    def down(k: int) -> int:
        return down(k + 1) + 1

    down(0)


class NoText(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


class NoReduce(Exception):
    def __reduce__(self) -> Any:
        raise RuntimeError("not to be sent")


class Pretender:
    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("no array")

    def __float__(self) -> float:
        raise RuntimeError("no number")


def raise_this(error: BaseException) -> None:
    raise error


def output_without_end() -> None:
    for _ in range(200):
        os.write(1, b"x" * 1000)


def break_sending() -> None:
    def nothing(*_: Any, **__: Any) -> None:
        raise RuntimeError("broken")

    socket.socket.sendall = nothing  # type: ignore[method-assign]


def break_pickling() -> None:
    def nothing(*_: Any, **__: Any) -> bytes:
        return b"not a pickle"

    pickle.dumps = nothing  # type: ignore[assignment]


def inner_run() -> None:
    ppsde.minimize(lambda y: float(y[0]), [(0, 1)], method="pps-de", max_evaluations=10, rng=1, workers=2)


def pool_of_processes() -> None:
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(abs, [-1, -2]) == [1, 2]


ATTACKS: dict[str, Attack] = {
    "segfault": lambda: ctypes.string_at(0),
    "exit status": lambda: os._exit(7),
    "exit status 0": lambda: os._exit(0),
    "sys.exit": lambda: sys.exit("done"),
    "abort": os.abort,
    "SIGKILL": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "SIGTERM": lambda: os.kill(os.getpid(), signal.SIGTERM),
    "SIGINT": lambda: os.kill(os.getpid(), signal.SIGINT),
    "SIGSTOP": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "SIGPIPE": lambda: os.kill(os.getpid(), signal.SIGPIPE),
    "hang": lambda: time.sleep(1000),
    "hang in C": lambda: ctypes.PyDLL(None).sleep(1000),
    "hang in a loop": lambda: [None for _ in iter(int, 1)],
    "deaf": deaf,
    "keeper killed": lambda: (os.kill(os.getppid(), signal.SIGKILL), time.sleep(1000)),
    "keeper stopped": lambda: os.kill(os.getppid(), signal.SIGSTOP),
    "keeper told to end": lambda: os.kill(os.getppid(), signal.SIGTERM),
    "group killed": lambda: os.killpg(0, signal.SIGKILL),
    "group stopped": lambda: os.killpg(0, signal.SIGSTOP),
    "group told to end": group_told_to_end,
    "group of its own": group_of_its_own,
    "session of its own": session_of_its_own,
    "fork, return": lambda: fork_and(wrong),
    "fork, raise": lambda: fork_and(raise_in_child),
    "fork, exec": lambda: fork_and(exec_nothing),
    "fork, exit": lambda: fork_and(lambda: sys.exit(0)),
    "fork, hang": lambda: fork_and(lambda: time.sleep(1000)),
    "fork, write": lambda: fork_and(lambda: on_each_descriptor(lambda fd: os.write(fd, b"x" * 100))),
    "daemon": daemon,
    "child with a session": in_another_session,
    "child with a session, hang": lambda: (in_another_session(), time.sleep(1000)),
    "many children": many_children,
    "threads": threads_that_go_on,
    "later: exit": lambda: later(lambda: os._exit(3)),
    "later: write": lambda: later(lambda: on_each_descriptor(lambda fd: os.write(fd, b"x"))),
    "descriptors written to": lambda: on_each_descriptor(lambda fd: os.write(fd, b"a line\n")),
    "descriptors read": lambda: on_each_descriptor(read_without_waiting),
    "descriptors closed": lambda: os.closerange(FIRST, LAST),
    "descriptors replaced": lambda: on_each_descriptor(replace_by_nothing),
    "descriptors made to wait for nothing": lambda: on_each_descriptor(lambda fd: os.set_blocking(fd, False)),
    "standard output closed": lambda: os.closerange(0, 3),
    "standard output flooded": output_without_end,
    "no more files": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0)),
    "no more processes": lambda: resource.setrlimit(resource.RLIMIT_NPROC, (0, 0)),
    "no more memory": much_memory,
    "depth": deep,
    "environment cleared": os.environ.clear,
    "no garbage collected": gc.disable,
    "modules gone": lambda: sys.modules.clear(),  # the method itself could not be sent
    "sending broken": break_sending,
    "pickling broken": break_pickling,
    "exception without text": lambda: raise_this(NoText()),
    "exception that cannot be sent": lambda: raise_this(NoReduce()),
    "exception of another kind": lambda: raise_this(GeneratorExit()),
    "long exception": lambda: raise_this(ValueError("a" * 10**7)),
    "value that is nothing": lambda: Pretender(),
    "nan": lambda: float("nan"),
    "run inside": inner_run,
    "pool inside": pool_of_processes,
}


# --- the attacks made -------------------------------------------------------------------------------------------------

BOX = [(-1.0, 1.0)] * 2
POINTS = 24  # of a search, of which a quarter attacks
PATIENCE = 600.0  # seconds, on a very busy machine
VARIANTS = (("pps-de", 2, "generations"), ("jde", 1, "generations"), ("pps-sqp", 3, "generations"), ("c2ode", 4, "any"))


def attacked(name: str, seed: int, method: str = "pps-de", workers: int = 2, **more: Any) -> float:
    """Make a search in which some points attack their worker; return its seconds, AssertionError if something is wrong.

    It must end, with the value at its point, and leave no process.
    """
    attack = ATTACKS[name]

    def fun(x: np.ndarray) -> Any:
        if np.random.default_rng(np.frombuffer(x.tobytes(), np.uint32)).random() < 0.25:  # by the point alone
            value = attack()
            if value is not None and not isinstance(value, tuple | list):
                return value
        return 1.0 + float(x @ x)

    asked = {
        "method": method,
        "max_evaluations": POINTS,
        "rng": seed,
        "eval_timeout": 0.4,
        "max_time": PATIENCE / 2,
        "tol": 0.0,
    }
    with marked() as mark:
        began = time.monotonic()
        result = ppsde.minimize(fun, BOX, workers=workers, x0=[0.5, 0.5], **asked, **more)
        seconds = time.monotonic() - began
        assert seconds < PATIENCE, f"no end within {PATIENCE:g} s"
        assert all_gone(mark), "a process is left"
    assert result.limited_by == "max_evaluations", str(result)
    assert result.n_failed == len(result.failures) < POINTS, f"{result.n_failed} points failed"
    assert result.success and result.fun == 1.0 + float(result.x @ result.x), f"fun {result.fun} at {result.x}"
    return seconds


def variant(number: int) -> tuple[str, int, str, int, dict[str, Any]]:
    """Return kind, seed, method, workers and options of an attack: all kinds in one variant, then in the next."""
    turn, place = divmod(number, len(ATTACKS))
    method, workers, order = VARIANTS[turn % len(VARIANTS)]
    return list(ATTACKS)[place], 100 + turn, method, workers, {"asynchronous": True} if order == "any" else {}


def counts(done: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return how many attacks of how many kinds were made, with which methods and workers, and how many went wrong."""
    made = list(done.values())
    return {
        "attacks": len(made),
        "kinds": len({one["attack"] for one in made}),
        "methods": sorted({one["method"] for one in made}),
        "workers": sorted({one["workers"] for one in made}),
        "wrong": sum(one["wrong"] is not None for one in made),
    }


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attacks", type=int, default=len(ATTACKS))
    parser.add_argument("--first", type=int, default=0, help="the number of the first one")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--record", nargs="?", const="attacks", help="store the counts for the documents")
    asked = parser.parse_args(words)
    done = json.loads(asked.out.read_text(encoding="utf-8"))["made"] if asked.out.exists() else {}
    for number in range(asked.first, asked.first + asked.attacks):
        if str(number) in done:
            continue
        name, seed, method, workers, more = variant(number)
        one = {"attack": name, "seed": seed, "method": method, "workers": workers, **more}
        try:
            one |= {"seconds": round(attacked(name, seed, method, workers, **more), 2), "wrong": None}
        except Exception as error:
            one["wrong"] = f"{type(error).__name__}: {error}"
        done[str(number)] = one
        asked.out.write_text(json.dumps({**counts(done), "made": done}, indent=1) + "\n", encoding="utf-8")
        print(number, *one.values(), sep=", ", flush=True)
    if asked.record:
        from benchmarks.records import revision, save

        which = f"--attacks {asked.attacks} --first {asked.first}" if asked.first else f"--attacks {asked.attacks}"
        command = f"PYTHONPATH=src:tests python -m adversary.attacks {which} --out attacks.json --record"
        command += "" if asked.record == "attacks" else f" {asked.record}"
        save(asked.record, {**counts(done), "commit": revision()}, command=command, methods=())
    return int(any(one["wrong"] for one in done.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
