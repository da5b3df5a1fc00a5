"""A worker of assay at the other end of a connection that may drop: what adb.py and ssh.py have in common.

Such a script is the command of `assay run --worker-command` (docs/farm.md). It runs one worker and passes the lines of
the protocol (harness/engine/supervision/protocol.h) through:

1. It waits until the device answers, and pushes the folder with assay and its cases, unless the device has that
   content already: the name of the folder there is the hash of all its files.
2. It starts the worker, after killing one that an earlier connection may have left.
3. When the worker ends, it ends with the worker's exit code. When the connection is lost, it waits until the device is
   back and ends with exit code 87: the supervisor then starts it again, and the running row continues without being
   accused. If the device has rebooted meanwhile, the exit code is 1: that counts as a crash of the worker.

Exit codes of adb and ssh are not trusted: they are the same for a command that fails and for a connection that does.
The worker counts as ended only when the shell that ran it prints a secret token on stdout. While the worker is silent,
that shell sends signs of life on stderr: a connection without any is lost.
"""

import argparse
import contextlib
import datetime
import fcntl
import hashlib
import io
import json
import os
import pathlib
import queue
import re
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import traceback

EXIT_LOST = 87  # exit_connection_lost of the protocol
EXIT_REBOOT = 1
EXIT_INFRASTRUCTURE = 3
LEFT_OUT = {"assay-out", ".git", "__pycache__"}
KEPT_LOGS = 50  # for each device
LONGEST_LOG = 1 << 20  # bytes
LONGEST_REST = 600  # seconds
LAST_WORDS = 3  # seconds that the program that is the connection has to end after its worker
COLDEST, HOTTEST = -40, 150  # degrees Celsius: zones that are not connected report values beyond these
OLD_DAYS = 14  # pushed folders that no worker has used for so long are removed


class Lost(Exception):
    """The device does not answer, or not completely."""


class Stopped(Exception):
    """The supervisor wants no more rows."""


class Link:
    """How to reach one device: adb.py and ssh.py say how. All texts are for the device's `sh`."""

    base = ""  # the folder on the device for all that is ours
    environment = ""  # assignments that the worker needs
    logs = ""  # prints the device's logs
    heat = ""  # prints numbers whose largest is the temperature
    heat_units = 1  # of them in a degree Celsius

    def __init__(self, name):
        self.name = name

    def command(self, script):
        """The words of a local process that runs the script on the device, with its stdin, stdout and stderr."""
        raise NotImplementedError

    def start(self, script):
        words = self.command(script)
        try:
            return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        except OSError as error:
            raise SystemExit(f"{words[0]} cannot be started, is it installed? {error}") from None

    def revive(self):
        """Does what may help to reach the device again."""


def add_options(parser):
    parser.add_argument("--folder", type=pathlib.Path, metavar="FOLDER",
                        help="the folder to push: assay, built for the device, and its cases (default: this package)")
    parser.add_argument("--with", dest="more", type=pathlib.Path, action="append", default=[], metavar="PATH",
                        help="also push this file or folder, to the same relative path; repeatable")
    parser.add_argument("--command", default="./assay worker", metavar="COMMAND",
                        help="what starts the worker in the pushed folder (default: %(default)s)")
    parser.add_argument("--wait", type=float, default=600, metavar="SECONDS",
                        help="give up a device that does not answer for so long (default: %(default)g)")
    parser.add_argument("--stall", type=float, default=60, metavar="SECONDS",
                        help="a connection without a sign of life for so long is lost (default: %(default)g)")
    parser.add_argument("--rest-above", type=float, metavar="CELSIUS",
                        help="let a device that is hotter rest before rows are timed, at most ten minutes")
    parser.add_argument("--logs", type=pathlib.Path, metavar="FOLDER",
                        help="where the device's logs of a crash or a reboot go (default: ~/.cache/assay/worker-logs)")


def parser_of(text):
    return argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)


def cache_folder():
    root = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(root) / "assay"


def file_name(text):
    return re.sub(r"[^A-Za-z0-9.-]", "_", text)


class Supervisor:
    """The supervisor: requests on stdin, events on stdout, messages for people on stderr."""

    def __init__(self, name):
        self.name = name
        self.requests = queue.Queue()
        self.stopped = threading.Event()
        self._lock = threading.Lock()
        self._last_said = ""
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in sys.stdin.buffer:
            self.requests.put(line)
            if line.strip() == b'{"request":"stop"}':
                self.stopped.set()
        os._exit(EXIT_INFRASTRUCTURE)  # the supervisor is gone; the worker ends when its connection does

    def send(self, data):
        """Passes on whole lines."""
        try:
            with self._lock:
                sys.stdout.buffer.write(data)
                sys.stdout.buffer.flush()
        except BrokenPipeError:
            os._exit(EXIT_INFRASTRUCTURE)

    def event(self, **fields):
        self.send(json.dumps(fields, separators=(",", ":")).encode() + b"\n")

    def say(self, text):
        """Tells people; a message that repeats the last one is left out."""
        if text != self._last_said:
            print(f"{self.name}: {text}", file=sys.stderr, flush=True)
        self._last_said = text

    @contextlib.contextmanager
    def kept_waiting(self):
        """Tells the supervisor again and again that this process is alive, while the worker cannot."""
        done = threading.Event()

        def tell():
            while not done.wait(1):
                self.event(worker="log", text="")

        teller = threading.Thread(target=tell, daemon=True)
        teller.start()
        try:
            yield
        finally:
            done.set()
            teller.join()

    def sleep(self, seconds):
        if self.stopped.wait(seconds):
            raise Stopped


class Package:
    """The files to push, and the hash of their contents, names and modes."""

    def __init__(self, folder, more):
        self.files = {}
        for path in sorted(folder.rglob("*")):
            self._add(path, path.relative_to(folder))
        for path in more:
            if path.is_absolute() or ".." in path.parts:
                raise SystemExit(f"--with {path}: the path must be relative, without '..': it is the same on the device")
            if not path.exists():
                raise SystemExit(f"--with {path}: there is no such file or folder")
            for file in [path, *sorted(path.rglob("*"))]:
                self._add(file, file)
        listed = "".join(f"{digest} {int(is_program)} {name}\n"
                         for name, (_, digest, is_program) in sorted(self.files.items()))
        self.hash = hashlib.sha256(listed.encode()).hexdigest()[:16]

    def _add(self, path, name):
        if path.is_file() and not LEFT_OUT & set(name.parts):
            data = path.read_bytes()
            self.files[str(name)] = (path, hashlib.sha256(data).hexdigest(), os.access(path, os.X_OK))

    def tar(self):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for name, (path, _, is_program) in sorted(self.files.items()):
                data = path.read_bytes()
                entry = tarfile.TarInfo(name)
                entry.size, entry.mode = len(data), 0o755 if is_program else 0o644
                archive.addfile(entry, io.BytesIO(data))
        return packed.getvalue()

    def differs(self, listed):
        """What differs in the output of sha256sum on the device; empty: nothing."""
        got = {}
        for line in listed.splitlines():
            digest, _, name = line.partition(" ")
            got[name.strip().removeprefix("./")] = digest
        wrong = [name for name, (_, digest, _) in self.files.items() if got.get(name) != digest]
        return f"{len(wrong)} of {len(self.files)} files arrived damaged, {wrong[0]} first" if wrong else ""


class Device:
    """Runs short scripts on the device. Each method raises Lost if the device does not answer."""

    def __init__(self, link, package):
        self.link = link
        self.package = package
        self.target = f"{link.base}/{package.hash}"

    def run(self, script, data=b"", seconds=30):
        """Returns what the script prints. It must end with exit code 0."""
        token = secrets.token_hex(8)
        wrapped = f"echo {token} && (\n{script}\n) && echo {token}"
        process = self.link.start(wrapped)
        try:
            out, err = process.communicate(data, timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Lost(f"it did not answer within {seconds:g} s") from None
        parts = out.decode(errors="replace").split(f"{token}\n")  # before the first one, a shell's start-up files print
        if len(parts) != 3:
            raise Lost(err.decode(errors="replace").strip()[-300:] or f"exit code {process.returncode}")
        return parts[1]

    def boot(self):
        """A text that differs after a reboot."""
        return self.run("cat /proc/sys/kernel/random/boot_id 2>/dev/null || grep btime /proc/stat").strip()

    def push(self, say):
        """Pushes the package unless the device has it."""
        target = self.target
        with self.lock(f"{file_name(self.link.name)}.push"):
            if "yes" in self.run(f"[ -d {target} ] && touch {target} && echo yes || true"):
                return
            data = self.package.tar()
            say(f"pushing {len(data) / 1e6:.1f} MB to {target}".replace('"$HOME"', '~'))
            part = f"{target}.{secrets.token_hex(4)}.part"
            self.run(f"rm -rf {part} && mkdir -p {part} && tar -xf - -C {part}", data, 60 + len(data) / 1e6)
            listed = self.run(f"cd {part} && find . -type f -exec sha256sum {{}} +", seconds=120)
            if wrong := self.package.differs(listed):
                raise Lost(wrong)
            # On the disk before it has its name, by which it is trusted.
            self.run(f"sync; if [ -d {target} ]; then rm -rf {part}; else mv {part} {target}; fi", seconds=120)
            self._remove_old()

    def _remove_old(self):
        """Removes folders that were not used for long; what a connection that drops leaves of one has another name."""
        self.run(f"find {self.link.base} -mindepth 1 -maxdepth 1 -type d -name '????????????????*' -mtime +{OLD_DAYS} "
                 "-exec sh -c 'mv \"$1\" \"$1.old\" && rm -rf \"$1.old\"' sh {} \\;")

    @staticmethod
    @contextlib.contextmanager
    def lock(name, wait=True):
        """Holds a lock of this machine; yields whether it was free."""
        folder = cache_folder() / "workers"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{name}.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            except BlockingIOError:
                yield False
                return
            yield True

    def temperature(self):
        """In degrees Celsius; None: the device does not say."""
        numbers = re.findall(r"-?\d+", self.run(f"{self.link.heat} 2>/dev/null || true"))
        degrees = [int(number) / self.link.heat_units for number in numbers]
        return max((one for one in degrees if COLDEST <= one <= HOTTEST), default=None)


class Worker:
    """A worker on the device, and the local process that the connection to it is."""

    def __init__(self, device, slot, options):
        self.token = secrets.token_hex(8)
        self.stall = options.stall
        self.heard = time.monotonic()
        self.process = device.link.start(self._script(device, slot, options))

    def _script(self, device, slot, options):
        """A shell that is still there from an earlier connection of the slot is known by its own text in /proc."""
        token = self.token
        return f"""
slot={slot};
base={device.link.base}
mkdir -p "$base/workers" "$base/cache" "$base/tmp"
base=$(cd "$base" && pwd -P) && cd {device.target} || exit
old=$(cat "$base/workers/$slot" 2>/dev/null)
if [ "${{old:-$$}}" != $$ ] && grep -q '^slot={slot};$' "/proc/$old/cmdline" 2>/dev/null; then
  kill -9 -"$old" 2>/dev/null
  kill -9 "$old" 2>/dev/null
fi
echo $$ >"$base/workers/$slot"
(
  trap '' PIPE  # a worker that hangs does not end with its connection: it is killed
  while sleep {max(options.stall / 6, 0.1):g}; do echo {token} >&2 || kill -9 -$$ || exit; done
) </dev/null >/dev/null &
alive=$!
{device.link.environment}
echo {token} begin
({options.command}
)
echo {token} end $?
kill -9 $alive
"""

    def send(self, line):
        try:
            self.process.stdin.write(line)
            self.process.stdin.flush()
        except OSError:
            pass  # the connection is lost, which read() finds

    def relay(self, supervisor):
        """Passes the worker's output on until it ends; returns its exit code. Raises Lost."""
        out = Lines(self.token)
        errors = b""
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            ready.register(self.process.stderr, selectors.EVENT_READ)
            while not out.is_over:
                for key, _ in ready.select(0.2):
                    data = key.fileobj.read1(1 << 16)
                    self.heard = time.monotonic()
                    if not data:
                        ready.unregister(key.fileobj)
                    if key.fileobj is self.process.stderr:
                        errors = self._pass_errors(errors + data)
                    else:
                        out.take(data, supervisor)
                if time.monotonic() - self.heard > self.stall:
                    raise Lost(f"no sign of life for {self.stall:g} s")
        self._pass_last_errors(errors)
        if out.status is None:
            raise Lost("it ended before the worker did")
        return out.status

    def _pass_last_errors(self, errors):
        """The last words of a worker, or of the program that is the connection, may arrive late, and later where the
        machine is busy: that program's end is waited for."""
        os.set_blocking(self.process.stderr.fileno(), False)
        end = time.monotonic() + LAST_WORDS
        while time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.02)
        self._pass_errors(errors + (self.process.stderr.read() or b"") + b"\n")

    def _pass_errors(self, text):
        """Passes on whole lines, without signs of life; returns the rest."""
        *lines, rest = text.split(b"\n")
        for line in lines:
            if line.strip() and self.token.encode() not in line:
                sys.stderr.buffer.write(line.rstrip(b"\r") + b"\n")
        sys.stderr.buffer.flush()
        return rest

    def end(self):
        self.process.kill()
        self.process.wait()


class Lines:
    """The worker's lines in what a connection brings, which may end anywhere."""

    def __init__(self, token):
        self.begin = f"{token} begin".encode()
        self.end = re.compile(rf"{token} end (\d+)\s*$".encode())
        self.has_begun = False
        self.is_over = False
        self.status = None  # the worker's exit code, if it has ended
        self.rest = b""

    def take(self, data, supervisor):
        """Passes whole lines on; no data: the connection has ended. Output before the worker's, as of a shell's
        start-up files, is left out."""
        *lines, self.rest = (self.rest + data).split(b"\n")
        whole = b""
        for line in lines:
            if not self.has_begun:
                self.has_begun = line.strip().endswith(self.begin)
            elif ended := self.end.search(line):
                whole += line[:ended.start()]  # half a line, if the worker did not finish its last one
                self.status = int(ended[1])
                break
            else:
                whole += line + b"\n"
        if whole:
            supervisor.send(whole)
        self.is_over = not data or self.status is not None


class Transport:
    def __init__(self, link, options):
        self.options = options
        self.link = link
        self.device = Device(link, Package(options.folder, options.more))
        self.supervisor = Supervisor(link.name)  # last: it ends this process with the end of stdin

    def serve(self):
        """Runs one worker; returns the exit code."""
        try:
            with self.slot() as slot:
                return self.serve_in(slot)
        except Stopped:
            return EXIT_LOST
        except (OSError, SystemExit) as error:  # on this machine: no row is to blame
            self.supervisor.event(worker="cannot_go_on", text=str(error))
            return EXIT_INFRASTRUCTURE

    @contextlib.contextmanager
    def slot(self):
        """A name for this connection that the next one with the same device will have, but none at the same time."""
        for number in range(1000):
            name = f"{file_name(self.link.name)}.{number}"
            with Device.lock(name, wait=False) as is_free:
                if is_free:
                    yield f"{file_name(socket.gethostname())}-{os.getuid()}-{name}"
                    return
        raise SystemExit("a thousand workers are connected to this device already")

    def serve_in(self, slot):
        try:
            boot = self.reach()
            worker = Worker(self.device, slot, self.options)
            threading.Thread(target=self.pass_requests, args=[worker], daemon=True).start()
            try:
                status = worker.relay(self.supervisor)
            except Lost as lost:
                self.supervisor.say(f"the connection is lost: {lost}")
                worker.end()
                return self.after_loss(boot)
            finally:
                worker.end()
            if status not in (0, EXIT_INFRASTRUCTURE):
                self.keep_logs(f"the worker ended with code {status}")
            return status
        except TimeoutError as error:
            self.supervisor.event(worker="cannot_go_on", text=str(error))
            return EXIT_INFRASTRUCTURE

    def after_loss(self, boot):
        now = self.reach()
        if now == boot:
            self.supervisor.say("the device is back")
            return EXIT_LOST
        self.supervisor.say("the device has rebooted")
        self.keep_logs("the device has rebooted")
        return EXIT_REBOOT

    def reach(self):
        """Waits until the device answers and has the package; returns Device.boot()."""
        began = time.monotonic()
        pause = 0.25
        with self.supervisor.kept_waiting():
            while True:
                try:
                    boot = self.device.boot()
                    self.device.push(self.supervisor.say)
                    return boot
                except Lost as why:
                    self.supervisor.say(f"waiting for the device: {why}")
                    if time.monotonic() - began > self.options.wait:
                        raise TimeoutError(f"the device {self.link.name} does not answer: for {self.options.wait:g} s it "
                                           f"has been tried, the last time with: {why}") from None
                self.supervisor.sleep(pause)
                pause = min(2 * pause, 10)
                self.link.revive()

    def pass_requests(self, worker):
        while True:
            line = self.supervisor.requests.get()
            if self.options.rest_above and line.strip() == b'{"request":"time"}':
                with contextlib.suppress(Lost, Stopped):
                    self.rest()
            worker.send(line)

    def rest(self):
        """Waits until the device is no longer hot."""
        end = time.monotonic() + LONGEST_REST
        with self.supervisor.kept_waiting():
            while (now := self.device.temperature()) is not None and now > self.options.rest_above:
                self.supervisor.say(f"resting: above {self.options.rest_above:g} degrees Celsius")
                if time.monotonic() > end:
                    return self.supervisor.say(f"it is still hot after {LONGEST_REST} s, and is timed nevertheless")
                self.supervisor.sleep(2)

    def keep_logs(self, why):
        """Pulls the device's logs. Never fails: they are only an aid."""
        folder = self.options.logs or cache_folder() / "worker-logs"
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
        path = folder / f"{file_name(self.link.name)}-{now}.txt"
        try:
            with self.supervisor.kept_waiting():
                text = self.device.run(f"({self.link.logs}) 2>&1 || true")
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{why}\n{text[-LONGEST_LOG:]}")
            for old in sorted(folder.glob(f"{file_name(self.link.name)}-2*.txt"))[:-KEPT_LOGS]:
                old.unlink()
            self.supervisor.say(f"the device's logs are in {path}")
        except (Lost, OSError) as error:
            self.supervisor.say(f"the device's logs could not be kept: {error}")


def main(link, options):
    if not options.folder:
        options.folder = pathlib.Path(__file__).resolve().parents[3]
        if not os.access(options.folder / "assay", os.X_OK):
            raise SystemExit(f"{options.folder} is not a package of assay: name the folder to push with --folder")
    if not options.folder.is_dir():
        raise SystemExit(f"--folder {options.folder}: there is no such folder")
    # Who stops a run signals all its processes. The supervisor then tells the worker to stop, as any worker.
    for stopping in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(stopping, signal.SIG_IGN)
    try:
        status = Transport(link, options).serve()
    except SystemExit as error:
        print(error, file=sys.stderr, flush=True)
        status = EXIT_INFRASTRUCTURE
    except BaseException:
        traceback.print_exc()
        status = EXIT_INFRASTRUCTURE
    sys.stderr.flush()
    os._exit(status)  # not as usual: a thread may still read stdin
