#!/usr/bin/python3
"""Runs the references of ops that manifests declare: python3 -I -c "$(cat driver.py)".

Embedded in assay. Each line of stdin is a request (JSON), which names a folder with inputs (.npy). The answer is a line
on stderr: the folder, and 0 where it has outputs (.npy) now, or 1 where it has `error.txt`. This process is trusted: it
loads nothing of the user's. For each request it forks one that does, waits for it, and ends whatever that has left
behind. So all share one start of Python and one import of NumPy, and no request finds what another has done.
"""

import collections
import ctypes
import gc
import importlib
import inspect
import io
import json
import os
import resource
import runpy
import select
import shutil
import signal
import sys
import time
import traceback

import numpy

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
LONGEST_ERROR = 4000  # bytes

QParams = collections.namedtuple("QParams", "scale zero_point")


def shortened(text):
    """Without its middle if it is long: places come first, and the last line says what is wrong."""
    if len(text) <= LONGEST_ERROR:
        return text
    return text[:LONGEST_ERROR // 2] + b"\n[...]\n" + text[-LONGEST_ERROR // 2:]


class Refused(Exception):
    """The reference or its answer is not as it must be."""


def prctl(option, value):
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def limit(request):
    """Limits that the reference cannot raise again. Lower ones that this process has stay."""
    cpu = int(request["cpu_seconds"])
    for what, soft, hard in (
        (resource.RLIMIT_CPU, cpu, cpu + 1),
        (resource.RLIMIT_AS, request["memory_bytes"], request["memory_bytes"]),
        (resource.RLIMIT_FSIZE, request["file_bytes"], request["file_bytes"]),
        (resource.RLIMIT_CORE, 0, 0),
    ):
        most = resource.getrlimit(what)[1]
        if most != resource.RLIM_INFINITY:
            soft, hard = min(soft, most), min(hard, most)
        resource.setrlimit(what, (soft, hard))


def function_of(request):
    """The function of the user's file."""
    path = request["file"]
    sys.path.insert(0, os.path.dirname(path))
    members = runpy.run_path(path, run_name="reference")
    function = members.get(request["function"])
    if callable(function):
        return function
    known = [name for name, value in members.items() if inspect.isfunction(value) and value.__module__ == "reference"]
    raise Refused(f"it has no function '{request['function']}'; it has: {', '.join(known) or 'none'}")


def value_of(param):
    if param["kind"] == "list":
        return tuple(param["value"])
    if param["kind"] == "qparams":
        return QParams(param["scale"], param["zero_point"])
    return param["value"]


def arguments_of(function, request):
    """The inputs, and those parameters that the function takes."""
    arguments = {}
    for name in request["inputs"]:
        array = numpy.load(os.path.join(request["folder"], f"in.{name}.npy"), allow_pickle=False)
        array.setflags(write=False)
        arguments[name] = array
    signature = inspect.signature(function)
    takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in signature.parameters.values())
    for name, param in request["params"].items():
        if takes_all or name in signature.parameters:
            arguments[name] = value_of(param)
    try:
        signature.bind(**arguments)
    except TypeError as error:
        call = f"{request['function']}{signature} cannot be called with {', '.join(arguments)}"
        raise Refused(f"{call}: {error}") from None
    return arguments


def plain(name, value, wanted):
    """An array of numbers of the wanted shape."""
    array = numpy.asarray(value)
    if array.dtype.kind not in "biuf":
        raise Refused(f"'{name}' is {array.dtype}, and must be an array of numbers")
    if list(array.shape) != wanted:
        raise Refused(f"'{name}' has shape {list(array.shape)}, and the op declares {wanted}")
    return array


def integers(name, array, dtype):
    if array.dtype.kind == "f":
        raise Refused(f"'{name}' is {array.dtype}, and the op declares {dtype}: round it in the reference")
    limits = numpy.iinfo(dtype)
    for value in (array.min(), array.max()):
        if not limits.min <= value <= limits.max:
            raise Refused(f"'{name}' has the value {value}, and {dtype} holds {limits.min} to {limits.max}")
    return array.astype(dtype)


def floats(array, dtype):
    """As they are if they are of the op's dtype, else as float64, which assay rounds."""
    return array if array.dtype == numpy.dtype(dtype) else array.astype(numpy.float64)


def bound_of(name, value, shape):
    bound = plain(name, value, shape).astype(numpy.float64)
    if numpy.isnan(bound).any() or (bound < 0).any():
        raise Refused(f"'{name}' has NaN or a negative entry: a bound is an absolute error")
    return bound


def write_answer(answer, request):
    if not isinstance(answer, dict):
        raise Refused(f"it returned {type(answer).__name__}, and must return a dict of outputs by name")
    outputs = {output["name"]: output for output in request["outputs"]}
    names = [str(name) for name in answer]
    known = {*outputs, *(f"{name}_bound" for name in outputs)}
    unknown = [name for name in names if name not in known]
    missing = [name for name in outputs if name not in answer]
    if unknown or missing:
        said = [f"'{name}' is missing" for name in missing] + [f"'{name}' is no output" for name in unknown]
        raise Refused(f"its answer has other outputs than the op: {', '.join(said)}")
    for name, output in outputs.items():
        array = plain(name, answer[name], output["shape"])
        is_float = output["dtype"].startswith("float")
        array = floats(array, output["dtype"]) if is_float else integers(name, array, output["dtype"])
        save(request, name, array)
        bound = answer.get(f"{name}_bound")
        if bound is not None:
            save(request, f"{name}_bound", bound_of(f"{name}_bound", bound, output["shape"]))


def save(request, name, array):
    numpy.save(os.path.join(request["folder"], f"out.{name}.npy"), numpy.ascontiguousarray(array), allow_pickle=False)


def told(error, request):
    """What the reference did, for a person: from its own first line on."""
    if isinstance(error, Refused):
        return str(error)
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {error.msg}"
    this_file = told.__code__.co_filename
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != this_file]
    own = [frame for frame in frames if os.path.dirname(frame.filename) == os.path.dirname(request["file"])]
    lines = [f"{frame.filename}:{frame.lineno}: in {frame.name}: {frame.line}" for frame in (own or frames)[-3:]]
    return "\n".join([*lines, f"{type(error).__name__}: {error}"])


def compute(request):
    """The child: loads the user's file, computes, writes. Returns its exit code."""
    try:
        limit(request)
        os.chdir(os.path.join(request["folder"], "work"))
        numpy.random.seed()  # or all would begin with the same random numbers
        function = function_of(request)
        write_answer(function(**arguments_of(function, request)), request)
        return 0
    except BaseException as error:  # pylint: disable=broad-except
        with open(os.path.join(request["folder"], "error.txt"), "wb") as file:
            file.write(shortened(told(error, request).encode("utf-8", "replace")))
        return 1


def end_children():
    """Kills and reaps until no descendant is left: those of a subreaper come back to it."""
    while True:
        try:
            with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
                for child in file.read().split():
                    os.kill(int(child), signal.SIGKILL)
            os.waitpid(-1, 0)
        except ProcessLookupError:
            continue
        except ChildProcessError:
            return


def assay_has_ended(seconds):
    """Waits so long, or until assay ends: it sends nothing while it waits for an answer."""
    return bool(select.select([0], [], [], seconds)[0])


def wait(child, request):
    """The exit status of the child, or None when it took too long. Does not return when assay ends meanwhile."""
    end = time.monotonic() + request["seconds"]
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        if assay_has_ended(0.002):
            end_children()
            shutil.rmtree(request["folder"], ignore_errors=True)
            os._exit(1)
    return None


def say_end(request, status):
    """Writes why the child ended early, where it could not say so itself."""
    path = os.path.join(request["folder"], "error.txt")
    if status is None:
        text = f"it took more than {request['seconds']:g} s and was stopped"
    elif os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL):
        text = f"it was killed by {signal.Signals(os.WTERMSIG(status)).name}: "
        text += f"does it take more than {request['cpu_seconds']:g} s of CPU time, or too much memory?"
    elif os.WIFSIGNALED(status):
        text = f"it was ended by signal {os.WTERMSIG(status)}"
    elif os.path.exists(path):
        return
    else:
        text = f"it ended with code {os.WEXITSTATUS(status)} before it had returned"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def become_the_child(replies):
    """It ends with this process, reads nothing, and cannot be taken for this process."""
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.close(replies)
    for stream in (1, 2):
        os.set_blocking(stream, True)  # an earlier child may have changed what all share


def run_child(request, replies):
    """Does not return."""
    code = 1
    try:
        become_the_child(replies)
        code = compute(request)
        sys.stdout.flush()
    finally:
        os._exit(code)


def load_what_children_need():
    """What a child would load or prepare itself, each anew: modules, and functions that import some when called."""
    importlib.import_module("pkgutil")  # runpy
    numpy.random.seed()
    file = io.BytesIO()
    numpy.save(file, numpy.zeros(1))
    file.seek(0)
    numpy.load(file)
    gc.freeze()  # no collection writes to its pages, so they stay shared


def answer(request, replies):
    """Returns 0 where the outputs are written, 1 where `error.txt` says why not."""
    child = os.fork()
    if child == 0:
        run_child(request, replies)
    status = wait(child, request)
    end_children()
    if status == 0:
        return 0
    try:
        say_end(request, status)
    except OSError:
        pass  # the folder is gone
    return 1


def main():
    replies = os.dup(2)
    os.dup2(1, 2)  # what references print goes to one place
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    load_what_children_need()
    for line in sys.stdin.buffer:
        request = json.loads(line)
        code = answer(request, replies)
        os.write(replies, f"\n{request['folder']} {code}\n".encode("utf-8"))


if __name__ == "__main__":
    main()
