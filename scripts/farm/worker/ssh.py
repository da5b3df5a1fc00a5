#!/usr/bin/python3
"""A worker on another machine, over ssh: the command of `assay run --worker-command`.

    assay run --worker-command 'scripts/farm/worker/ssh.py HOST' --out night/HOST
    assay run --worker-command 'scripts/farm/worker/ssh.py user@HOST --wait 60 -- -p 2222 -i key' --out night/HOST

Words after -- are options of ssh. HOST must let this user in without a password. Nothing needs to be installed there but
a Vulkan driver and `tar`, `find` and `sha256sum`: the package is pushed. What it does, and what it does about a connection
that drops, is in docs/farm.md and connection.py.
"""

import shlex
import sys

import connection


class Ssh(connection.Link):
    base = '"$HOME"/.cache/assay/pushed'
    logs = "uptime; (dmesg 2>/dev/null || journalctl -k -n 200 --no-pager) | tail -n 200"
    heat = "cat /sys/class/thermal/thermal_zone*/temp"
    heat_units = 1000

    def __init__(self, name, options):
        super().__init__(name)
        self.options = options

    def command(self, script):
        # A connection of its own: one that is shared (ControlMaster) would not notice that it is lost.
        return ["ssh", "-T", "-o", "ControlMaster=no", "-o", "ControlPath=none", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=5",
                "-o", "ServerAliveCountMax=3", *self.options, self.name, "exec sh -c " + shlex.quote(script)]


def main():
    words, of_ssh = sys.argv[1:], []
    if "--" in words:
        words, of_ssh = words[:words.index("--")], words[words.index("--") + 1:]
    parser = connection.parser_of(__doc__)
    parser.add_argument("host", metavar="HOST")
    connection.add_options(parser)
    options = parser.parse_args(words)
    if options.host.startswith("-"):
        parser.error(f"'{options.host}' is not a host")
    connection.main(Ssh(options.host, of_ssh), options)


if __name__ == "__main__":
    sys.exit(main())
