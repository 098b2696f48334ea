"""spurdbd and the databases behind it, for tests: a file of SQLite, or a PostgreSQL server in a private directory on a free port.

    with Postgres() as server: ... server.url
    history = History(cluster, server.url); history.start()
"""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from spur_cluster import Daemon, eventually, free_port, program


class Postgres(Daemon):
    """Debian's PostgreSQL. It refuses to run as root, and runs as nobody-in-particular then."""

    def __init__(self, folder=None):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
        if not found:
            raise RuntimeError("PostgreSQL is not installed: run scripts/setup")
        self.programs = os.path.dirname(found[-1])
        self.dir = folder or tempfile.mkdtemp(prefix="spur-pg-")
        os.makedirs(self.dir, mode=0o700, exist_ok=True)
        self.wrapper = []
        if os.geteuid() == 0:
            self.wrapper = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(self.dir, "postgres", "postgres")
            if folder:
                os.chmod(os.path.dirname(folder), 0o711)  # it must get there
        self.port, self.data = free_port(), os.path.join(self.dir, "data")
        super().__init__([], os.path.join(self.dir, "log"))

    @property
    def url(self):
        return f"postgresql://postgres@127.0.0.1:{self.port}/spur"

    def run(self, name, *words):
        done = subprocess.run([*self.wrapper, os.path.join(self.programs, name), *words], capture_output=True, text=True, cwd=self.dir)
        if done.returncode != 0:
            raise AssertionError(f"{name}: {done.stdout}{done.stderr}")
        return done.stdout

    def sql(self, text, database="spur"):
        return self.run("psql", "-X", "-q", "-A", "-t", "-U", "postgres", "-h", "127.0.0.1", "-p", str(self.port), "-d", database, "-c", text).strip()

    def start(self):
        if not os.path.exists(self.data):
            self.run("initdb", "-D", self.data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
        # No power is cut here, only processes: what the kernel has is as good as on disk.
        self.command = [*self.wrapper, os.path.join(self.programs, "postgres"), "-D", self.data, "-p", str(self.port), "-k", self.dir, "-c", "listen_addresses=127.0.0.1",
                        "-c", "fsync=off", "-c", "max_connections=40"]
        super().start()
        eventually(self.is_ready, "PostgreSQL is ready")
        if not self.sql("SELECT 1 FROM pg_database WHERE datname = 'spur'", "postgres"):
            self.sql("CREATE DATABASE spur", "postgres")

    def is_ready(self):
        if not self.alive():  # children of one that was killed are still on their way out
            super().start()
        return "ready to accept connections" in self.text()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.signal(signal.SIGQUIT)
        if self.process:
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


class History(Daemon):
    """spurdbd, for the cluster's controllers. `database` is as --database-url has it; none: SQLite in its state directory."""

    def __init__(self, cluster, database="", port=None):
        self.cluster, self.database, self.port = cluster, database, port or free_port()
        self.state = os.path.join(cluster.dir, "dbd")
        os.makedirs(self.state, mode=0o700, exist_ok=True)
        super().__init__([], os.path.join(cluster.dir, "spurdbd.log"))
        cluster.helpers.append(self)

    def words(self):
        return [program("spurdbd"), "-D", "-v", "-f", self.cluster.controllers[0].config, "--state-dir", self.state, "--listen", f"127.0.0.1:{self.port}",
                *(["--database-url", self.database] if self.database else [])]

    def start(self, *more):
        self.command = [*self.words(), *more]
        super().start()
        eventually(self.is_serving, "spurdbd serves")

    def is_serving(self):
        if not self.alive():
            raise AssertionError(f"spurdbd ended with {self.process.returncode}:\n{self.text()}")
        return "serving history" in self.text()


def main(folder):
    """history.py FOLDER: a server with its socket in FOLDER, and FOLDER/ready once it answers, until SIGTERM comes."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with Postgres(folder) as server:
        os.symlink(f".s.PGSQL.{server.port}", os.path.join(folder, ".s.PGSQL.5432"))
        with open(os.path.join(folder, "ready"), "w"):
            pass
        server.process.wait()


if __name__ == "__main__":
    main(sys.argv[1])
