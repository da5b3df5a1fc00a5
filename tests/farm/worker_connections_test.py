#!/usr/bin/python3
"""Runs workers through scripts/farm/worker/adb.py and ssh.py over connections that drop, stall, lie and reboot.

    worker_connections_test.py ASSAY [TestConnections.test_...]

The device is a folder (fake_device.py stands for adb and ssh), the worker is mock_worker.py, which needs no device. One
test connects to a real sshd that it starts on this machine; where there is none (Debian: openssh-server) it is SKIPPED,
with a message.
"""

import getpass
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "scripts/farm/worker"
ROWS, TIMED = 40, 6
CASE = "op: q8ta_relu\ncases:\n  - {name: a, shape: [1, 4, 4, 4], qparams: {x: {scale: 0.1, zero_point: 0}, y: {scale: 0.1, zero_point: 0}}}\n"


def say(text):
    print(f"worker_connections_test: {text}", file=sys.stderr, flush=True)


class TestConnections(unittest.TestCase):
    def setUp(self):
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="assay-connections-"))
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.device = self.place / "device"
        (self.device / "data").mkdir(parents=True)
        (self.device / "boot_id").write_text("first\n")
        (self.device / "battery").write_text("  level: 83\n  temperature: 290\n")
        self.plan()
        (self.place / "bin").mkdir()
        for name in ("adb", "ssh"):
            (self.place / "bin" / name).symlink_to(ROOT / "tests/farm/fake_device.py")
        self.package = self.place / "package"
        (self.package / "cases").mkdir(parents=True)
        shutil.copy(ROOT / "tests/farm/mock_worker.py", self.package / "worker")
        (self.package / "cases/a.yaml").write_text(CASE)
        (self.package / "assay-out").mkdir()
        (self.package / "assay-out/old").write_text("a report is not pushed")
        self.environment = dict(os.environ, XDG_CACHE_HOME=str(self.place / "cache"), ASSAY_FAKE_DEVICE=str(self.device),
                                PATH=f"{self.place}/bin:{os.environ['PATH']}")

    def tearDown(self):
        keepers = self.device / "keepers"
        for pid in keepers.read_text().split() if keepers.exists() else []:
            os.kill(int(pid), signal.SIGKILL)

    def plan(self, worker=(), other=()):
        (self.device / "worker_faults").write_text("".join(f"{fault}\n" for fault in worker))
        (self.device / "other_faults").write_text("".join(f"{fault}\n" for fault in other))

    def left(self):
        return (self.device / "worker_faults").read_text() + (self.device / "other_faults").read_text()

    def worker(self, by="adb.py PHONE", mock="", options="--stall 30", after=""):
        worker = f"./worker --rows {ROWS} --perf {TIMED} --state {self.place}/state {mock}"
        return f"{SCRIPTS}/{by} --folder {self.package} --command '{worker}' {options} {after}"

    def run_assay(self, command, *more):
        self.out = self.place / "out"
        done = subprocess.run([ASSAY, "run", "cases/a.yaml", "--ceilings", "none", "--out", self.out, "--worker-command", command,
                               *more], cwd=self.package, env=self.environment, capture_output=True, text=True)
        self.messages = done.stderr
        self.said = f"{done.stdout}{done.stderr}\nfaults taken:\n{self.taken()}"
        return done.returncode

    def taken(self):
        file = self.device / "taken"
        return file.read_text() if file.exists() else ""

    def journal(self):
        return next(self.out.glob("runs/*/*/journal.jsonl")).read_text()

    def ends(self):
        """The status of each row, and how often each ended."""
        ends = {}
        for line in self.journal().splitlines():
            event = json.loads(line)
            if event["event"] == "end":
                ends.setdefault(event["row"], []).append(event["status"])
        return ends

    def expect_all_passed(self, status):
        self.assertEqual(status, 0, self.said)
        self.assertEqual(self.ends(), {row: ["PASS"] for row in range(ROWS)}, self.said)
        self.assertEqual(self.left(), "", f"faults that did not happen: {self.said}")

    def pushed(self):
        return sorted(path for path in self.device.glob("data/**/????????????????") if path.is_dir())

    def processes(self):
        """The workers on the device."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if (process / "cwd").resolve() == self.pushed()[0] and "worker" in (process / "cmdline").read_text():
                    found.append(process.name)
            except OSError:
                continue
        return found

    def test_a_cable_that_drops_twenty_times_loses_no_row(self):
        """At twenty places: in the list of devices, in the plan, between rows, in a row, in blocks."""
        kinds = ["drop", "lie", "leave"]
        places = ("0@run 30@run 0@plan 3000@plan 0@begin 15@begin 400@begin 0@end 300@end 900@begin 30@run 3000@plan 0@begin "
                  "15@begin 400@begin 5@end 5@block 70@block 400@block 0@end").split()
        self.plan(worker=[f"{kinds[i % 3]}:{place}" for i, place in enumerate(places)])
        self.expect_all_passed(self.run_assay(self.worker(mock="--row-ms 1")))
        self.assertEqual(len(re.findall("worker_faults (drop|lie|leave)", self.taken())), 20)
        self.assertEqual(len(self.pushed()), 1)
        self.assertEqual(self.messages.count("pushing"), 1, "the folder is pushed once")
        self.assertEqual([path.name for path in self.pushed()[0].iterdir() if path.name == "assay-out"], [])

    def test_blocks_before_a_drop_are_kept(self):
        self.plan(worker=["drop:1500@block"])
        self.expect_all_passed(self.run_assay(self.worker()))
        rounds = re.findall(r'"event":"block","row":(\d+),"round":(\d+)', self.journal())
        self.assertEqual(len(rounds), TIMED * 7)
        self.assertEqual(len(rounds), len(set(rounds)), "no block is sampled twice")

    def test_a_stall_is_a_lost_connection(self):
        self.plan(worker=["stall:500@begin", "none"])
        self.expect_all_passed(self.run_assay(self.worker(options="--stall 1.5")))
        self.assertIn("no sign of life for 1.5 s", self.said)

    def test_a_device_that_is_offline_is_waited_for(self):
        self.plan(worker=["drop:500@begin", "none"], other=["offline", "offline", "none", "none", "none", "none", "none", "none",
                                                       "offline", "offline"])
        self.expect_all_passed(self.run_assay(self.worker()))
        self.assertIn("waiting for the device: error: device offline", self.said)

    def test_a_device_that_stays_away_is_given_up(self):
        self.plan(worker=["drop:500@begin"], other=["none"] * 6 + ["offline"] * 10000)
        self.assertEqual(self.run_assay(self.worker(options="--wait 1")), 3, self.said)
        statuses = {status for statuses in self.ends().values() for status in statuses}
        self.assertEqual(statuses, {"PASS", "MISSING"}, "no row is accused")
        self.assertIn("the device PHONE does not answer", self.journal())

    def test_a_device_that_never_answers_is_an_error(self):
        self.plan(other=["offline"] * 10000)
        self.assertEqual(self.run_assay(self.worker(options="--wait 1")), 3, self.said)
        self.assertIn("the device PHONE does not answer", self.said)

    def test_a_reboot_is_a_crash_of_the_row_and_costs_one_row(self):
        """The storage is lost, too: the folder is pushed again."""
        self.plan(worker=["reboot:500@begin", "none"])
        self.assertEqual(self.run_assay(self.worker(mock="--row-ms 1"), "--prepare", "0"), 1, self.said)
        statuses = sorted(statuses[-1] for statuses in self.ends().values())
        self.assertEqual(statuses, ["FLAKY"] + ["PASS"] * (ROWS - 1), self.said)
        self.assertIn("the device has rebooted", self.journal())
        self.assertEqual(self.messages.count("pushing"), 2, self.said)
        logs = list((self.place / "cache/assay/worker-logs").glob("PHONE-*.txt"))
        self.assertEqual(len(logs), 1, self.said)
        self.assertIn("level: 83", logs[0].read_text(), "dumpsys battery")

    def test_a_row_that_crashes_is_accused(self):
        self.assertEqual(self.run_assay(self.worker(mock="--fault segfault@7")), 1, self.said)
        self.assertEqual(self.ends()[7], ["CRASH"], self.said)
        self.assertIn("SIGSEGV", self.journal())
        self.assertIn("mock: segfault in row 7", self.journal(), "the worker's last words arrive")
        self.assertEqual(len(list((self.place / "cache/assay/worker-logs").iterdir())), 2, "of both tries")

    def test_half_a_line_and_garbage_arrive_as_they_are(self):
        self.assertEqual(self.run_assay(self.worker(mock="--fault half-line@3 --fault garbage@9")), 1, self.said)
        self.assertEqual((self.ends()[3], self.ends()[9]), (["CRASH"], ["CRASH"]), self.said)
        self.assertIn("not an event", self.journal())

    def test_a_damaged_push_is_repeated(self):
        self.plan(worker=["none"], other=["none", "none", "damage", "none"])
        self.expect_all_passed(self.run_assay(self.worker()))
        self.assertRegex(self.said, "1 of 2 files arrived damaged")
        self.assertEqual(self.messages.count("pushing"), 2)

    def test_changed_content_is_pushed_and_old_folders_are_removed(self):
        self.expect_all_passed(self.run_assay(self.worker()))
        old = self.pushed()
        os.utime(old[0], (0, 0))
        shutil.rmtree(self.out)
        (self.package / "cases/b.yaml").write_text(CASE)
        self.expect_all_passed(self.run_assay(self.worker()))
        self.assertEqual(len(self.pushed()), 1)
        self.assertNotEqual(self.pushed(), old)

    def test_case_files_may_be_elsewhere(self):
        """The worker's folder has no cases; --with names those of the folder where assay runs."""
        build = self.place / "build"
        build.mkdir()
        (self.package / "worker").rename(build / "worker")
        command = self.worker(options="--with cases").replace(f"--folder {self.package}", f"--folder {build}")
        self.expect_all_passed(self.run_assay(command))
        got = sorted(str(path.relative_to(self.pushed()[0])) for path in self.pushed()[0].rglob("*") if path.is_file())
        self.assertEqual(got, ["cases/a.yaml", "worker"])

    def test_a_worker_that_was_left_is_killed_by_the_next_one(self):
        self.plan(worker=["leave:500@begin", "none"])
        self.expect_all_passed(self.run_assay(self.worker(mock="--row-ms 1")))
        self.assertEqual(self.processes(), [])

    def test_a_hot_device_rests_before_rows_are_timed(self):
        (self.device / "battery").write_text("  temperature: 443\n")
        command = self.worker(options="--rest-above 40")
        words = [ASSAY, "run", "cases/a.yaml", "--ceilings", "none", "--out", self.place / "out", "--worker-command", command]
        self.out = self.place / "out"
        with subprocess.Popen(words, cwd=self.package, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as run:
            said = ""
            for line in run.stdout:
                said += line
                if "resting" in line:
                    self.assertNotIn('"event":"block"', self.journal())
                    (self.device / "battery").write_text("  temperature: 399\n")
        self.assertIn("resting: above 40 degrees Celsius", said)
        self.said = said
        self.expect_all_passed(run.returncode)

    def test_ssh_with_a_chatty_shell(self):
        """The folder is below the home folder of a user whose shell prints something first."""
        self.plan(worker=["drop:500@begin", "none"])
        self.expect_all_passed(self.run_assay(self.worker(by="ssh.py HOST", after="-- -p 1")))
        self.assertEqual(self.pushed()[0].parent, self.device / "data/.cache/assay/pushed")

    def night(self, *words):
        done = subprocess.run([ROOT / "scripts/farm/remote_night.sh", *words], env=dict(self.environment, ASSAY=str(ASSAY)),
                              capture_output=True, text=True)
        self.said = f"{done.stdout}{done.stderr}"
        return done

    def test_a_night_of_several_devices_ends_in_one_verdict(self):
        for name in ("ONE", "TWO", "OFF"):
            (self.device / name / "data").mkdir(parents=True)
            for file in ("boot_id", "battery", "worker_faults", "other_faults"):
                shutil.copy(self.device / file, self.device / name)
        (self.device / "TWO/worker_faults").write_text("drop:500@begin\ndrop:5@block\n")
        (self.device / "OFF/other_faults").write_text("offline\n" * 10000)
        commands = {name.lower(): self.worker(by=f"adb.py {name}", options="--wait 1") for name in ("ONE", "TWO", "OFF")}
        workers = self.place / "workers"
        workers.write_text("# phones\n" + "".join(f"{name}  {command}\n" for name, command in commands.items()))
        farm = self.place / "farm"
        options = ["--", self.package / "cases/a.yaml", "--ceilings", "none"]
        self.assertEqual(self.night("--keep", "2", farm, workers, *options).returncode, 3, self.said)
        self.assertTrue(self.said.startswith("1 of 3 devices are not good: off\n"), self.said)
        self.assertIn("the device OFF does not answer", self.said)
        self.assertEqual((farm / "latest/exit_code").read_text(), "3\n")
        self.assertEqual({path.parent.parent.name for path in farm.glob("*/last-good/mock-0")}, {"one", "two"})

        (self.device / "OFF/other_faults").write_text("")
        first = (farm / "latest").resolve()
        self.assertEqual(self.night("--resume", first).returncode, 0, self.said)
        self.assertTrue((first / "verdict.txt").read_text().startswith("GOOD: 3 devices\n"), self.said)

        workers.write_text(f"one  {self.worker(by='adb.py ONE', mock='--fault fail@3')}\n")
        self.assertEqual(self.night(farm, workers, *options).returncode, 1, self.said)
        self.assertIn("FAIL", (farm / "latest/verdict.txt").read_text())

    def test_a_night_of_wrong_workers_is_refused(self):
        workers = self.place / "workers"
        for text, wanted in (("", "has no device"), ("a/b x", "cannot be the name"), ("a", "has no command"),
                             ("a x\na y", "two devices called a")):
            workers.write_text(text)
            self.assertEqual(self.night(self.place / "farm", workers).returncode, 2, self.said)
            self.assertIn(wanted, self.said)
        self.assertEqual(self.night(self.place / "farm", self.place / "none").returncode, 2, self.said)
        self.assertEqual(self.night("--time-limit", "soon", "a", "b").returncode, 2, self.said)
        self.assertFalse((self.place / "farm").exists())

    def test_without_adb(self):
        (self.place / "bin/adb").unlink()
        self.environment["PATH"] = f"{self.place}/bin"
        self.assertEqual(self.run_assay(self.worker()), 3, self.said)
        self.assertIn("adb cannot be started, is it installed?", self.said)
        self.assertNotIn("Python", self.said)

    def test_wrong_options(self):
        for words, wanted in ((["--folder", "/none", "P"], "no such folder"), (["P"], "name the folder to push"),
                              (["--folder", self.package, "--with", "/abs", "P"], "must be relative"),
                              (["--folder", self.package, "--with", "absent", "P"], "no such file")):
            done = subprocess.run([SCRIPTS / "adb.py", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(wanted, done.stderr)

    def test_real_sshd(self):
        """Through a real sshd, which loses its connections twice. The worker hangs in two rows until then, and ends only
        because the next one kills it."""
        daemon = shutil.which("sshd", path="/usr/sbin:/usr/bin:" + os.environ["PATH"])
        client = shutil.which("ssh")
        if not daemon or not client:
            say("SKIPPED: ssh to a real sshd. There is none here; Debian has it in openssh-server and openssh-client.")
            self.skipTest("no sshd")
        (self.place / "bin/ssh").unlink()
        port = self.start_sshd(daemon)
        options = (f"-p {port} -i {self.place}/key -o IdentitiesOnly=yes -o UserKnownHostsFile=/dev/null "
                   "-o StrictHostKeyChecking=no -o LogLevel=ERROR -F none")
        command = self.worker(by=f"ssh.py {getpass.getuser()}@127.0.0.1", mock="--fault hang@5:1 --fault hang@15:1", after=f"-- {options}")
        words = [ASSAY, "run", "cases/a.yaml", "--ceilings", "none", "--out", self.place / "out", "--worker-command", command]
        self.out = self.place / "out"
        self.expect_login(["ssh", *options.split(), f"{getpass.getuser()}@127.0.0.1", "true"])
        with subprocess.Popen(words, cwd=self.package, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as run:
            self.addCleanup(run.kill)
            for row in (5, 15):
                self.wait_for(lambda: self.has_begun(row) or run.poll() is not None)
                self.drop_connections()
            self.said = run.stdout.read()
        self.assertEqual(self.said.count("the connection is lost"), 2, self.said)
        self.expect_all_passed(run.returncode)
        self.assertEqual(self.processes(), [])

    def start_sshd(self, daemon):
        for name in ("key", "host_key"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.place / name], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (self.place / "sshd_config").write_text(
            f"Port {port}\nListenAddress 127.0.0.1\nHostKey {self.place}/host_key\nAuthorizedKeysFile {self.place}/key.pub\n"
            f"PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin prohibit-password\nSetEnv HOME={self.device}/data\n")
        if os.geteuid() == 0:
            pathlib.Path("/run/sshd").mkdir(exist_ok=True)
        log = (self.place / "sshd.log").open("w")
        self.addCleanup(log.close)
        self.sshd = subprocess.Popen([daemon, "-D", "-e", "-f", self.place / "sshd_config"], stderr=log)
        self.addCleanup(self.sshd.wait)
        self.addCleanup(self.sshd.kill)
        return port

    def expect_login(self, command):
        """Skips the test where this user cannot log in (a locked account), or where it cannot be run."""
        end = time.monotonic() + 20
        while subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode != 0:
            if time.monotonic() > end or self.sshd.poll() is not None:
                say(f"SKIPPED: ssh to a real sshd. Nobody can log in: {(self.place / 'sshd.log').read_text().strip()[-300:]}")
                self.skipTest("no login")
            time.sleep(0.2)
        if not self.children_of_sshd().exists():
            say("SKIPPED: ssh to a real sshd. This system does not list the children of a process.")
            self.skipTest("no list of children")

    def children_of_sshd(self):
        return pathlib.Path(f"/proc/{self.sshd.pid}/task/{self.sshd.pid}/children")

    def drop_connections(self):
        """Kills the processes of sshd that serve connections."""
        for child in self.children_of_sshd().read_text().split():
            os.kill(int(child), signal.SIGKILL)

    def has_begun(self, row):
        journals = list(self.out.glob("runs/*/*/journal.jsonl"))
        return journals and f'"event":"begin","row":{row}}}' in journals[0].read_text()

    def wait_for(self, happens, seconds=120):
        end = time.monotonic() + seconds
        while not happens():
            self.assertLess(time.monotonic(), end, "it did not happen")
            time.sleep(0.02)


def main():
    global ASSAY
    words = sys.argv[1:]
    if not words:
        sys.exit(__doc__)
    ASSAY = pathlib.Path(words.pop(0)).resolve()
    unittest.main(argv=[sys.argv[0], *words], verbosity=2)


if __name__ == "__main__":
    main()
