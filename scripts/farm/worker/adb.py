#!/usr/bin/python3
"""A worker on an Android device, over adb: the command of `assay run --worker-command`.

    assay run --worker-command 'scripts/farm/worker/adb.py SERIAL --folder android' --out night/SERIAL

SERIAL is as `adb devices` lists it; HOST:PORT is connected again when it is lost. Needs adb on this machine, Android 7 or
newer, and a folder with assay built for Android. What it does, and what it does about a cable that drops, is in
docs/farm.md and connection.py.
"""

import contextlib
import subprocess
import sys

import connection


class Adb(connection.Link):
    base = "/data/local/tmp/assay"
    environment = (f"export HOME={base} XDG_CACHE_HOME={base}/cache TMPDIR={base}/tmp "
                   "LD_LIBRARY_PATH=.${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}")
    logs = ("getprop ro.boot.bootreason; getprop sys.boot.reason; dumpsys battery; ls -l /data/tombstones; "
            "dmesg | tail -n 200; logcat -d -b crash -t 200; logcat -d -t 500")
    heat = "dumpsys battery | sed -n 's/^ *temperature: *//p'"
    heat_units = 10

    def command(self, script):
        return ["adb", "-s", self.name, "shell", "-T", script]

    def revive(self):
        """A device that stays offline answers again once adb has reconnected; one on the network must be connected."""
        words = ["connect", self.name] if ":" in self.name else ["reconnect", "offline"]
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(["adb", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=20)


def main():
    parser = connection.parser_of(__doc__)
    parser.add_argument("serial", metavar="SERIAL")
    connection.add_options(parser)
    options = parser.parse_args()
    connection.main(Adb(options.serial), options)


if __name__ == "__main__":
    sys.exit(main())
