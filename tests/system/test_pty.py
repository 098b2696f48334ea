"""srun --pty: the terminal here and the one there are one."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
import unittest

from spur_cluster import PATIENCE, Cluster, program


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, cluster, *words, rows=33, columns=99):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.chdir(cluster.work)
            os.execvpe(words[0], words, {**cluster.environment(), "PS1": "ready> ", "TERM": "dumb", "HISTFILE": ""})

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.kill(self.pid, signal.SIGWINCH)

    def type(self, text):
        os.write(self.fd, text.encode())

    def see(self, pattern):
        """Everything up to what matches the pattern, which is taken away."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.text)):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"{pattern!r} did not appear; there was {self.text!r}")
            try:
                data = os.read(self.fd, 4096)
            except OSError:
                data = b""
            if not data:
                raise AssertionError(f"the program ended without {pattern!r}; there was {self.text!r}")
            self.text += data.decode(errors="replace")
        before, self.text = self.text[:found.end()], self.text[found.end():]
        return before

    def end(self):
        """The exit code, and what was still said."""
        deadline = time.monotonic() + PATIENCE
        while True:
            ready = select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]
            if not ready:
                os.kill(self.pid, signal.SIGKILL)
                raise AssertionError(f"the program did not end; there was {self.text!r}")
            try:
                data = os.read(self.fd, 4096)
            except OSError:
                data = b""
            if not data:
                break
            self.text += data.decode(errors="replace")
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1]), self.text


class Pty(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=2, cpus=4).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def srun(self, *words, **how):
        return Terminal(self.cluster, program("srun"), "--pty", *words, **how)

    def shell(self):
        terminal = self.srun("bash", "--norc", "--noediting", "-i")
        terminal.see("ready> ")
        return terminal

    def test_a_shell_is_usable(self):
        shell = self.shell()
        shell.type("stty size; echo $SLURM_PTY_WIN_ROW,$SLURM_PTY_WIN_COL\n")
        self.assertIn("33 99\r\n33,99", shell.see("33,99\r\nready> "))
        shell.resize(44, 111)
        shell.type("until [ \"$(stty size)\" = '44 111' ]; do sleep 0.05; done; echo re''sized\n")
        shell.see("resized\r\nready> ")

        shell.type("sleep 600\n")
        self.running(shell, "sleep 600")
        shell.type("\x03")
        shell.see("ready> ")
        shell.type("echo code $?\n")
        shell.see("code 130\r\nready> ")

        shell.type("sleep 601\n")
        self.running(shell, "sleep 601")
        shell.type("\x1a")
        shell.see("Stopped")
        shell.see("ready> ")
        shell.type("kill %1; fg; echo over $?\n")
        shell.see(r"over (143\r\n|1\r\n.*Terminated[^\n]*\n)ready> ")  # 1: it was over before the shell could bring it back

        shell.type("cat; echo cat''ted\n")
        shell.type("typed\n\x04")
        shell.see("catted\r\nready> ")
        shell.type("exit 7\n")
        code, rest = shell.end()
        self.assertEqual(code, 7)
        self.assertIn("task 0: Exited with exit code 7", rest)

    def running(self, shell, command):
        """Until the shell's child runs: a key that comes before it would be the shell's own."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/cmdline", "rb") as file:
                        if file.read().rstrip(b"\0").replace(b"\0", b" ").decode(errors="replace") == command and \
                                os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(self.cluster.work):
                            return
                except OSError:
                    continue
            time.sleep(0.02)
        raise AssertionError(f"{command} does not run")

    def test_ctrl_d_ends_the_shell(self):
        shell = self.shell()
        shell.type("\x04")
        self.assertEqual(shell.end()[0], 0)

    def test_only_task_0_has_the_terminal(self):
        code, text = self.srun("-n2", "sh", "-c", "tty; exit $SLURM_PROCID").end()
        self.assertEqual((code, len(re.findall(r"/dev/pts/\d+", text))), (1, 1), text)

    def test_the_terminal_is_itself_again_however_the_step_ends(self):
        outer = Terminal(self.cluster, "bash", "--norc", "--noediting", "-i")
        outer.see("ready> ")
        srun = program("srun")

        def settings(number):
            outer.type(f"stty -a | grep -v baud; echo ta''ken {number}\n")
            return outer.see(f"taken {number}\r\nready> ").split("\n", 1)[1].replace(f"taken {number}", "")

        before = settings(1)
        outer.type(f"{srun} --pty true; echo do''ne\n")
        outer.see("done\r\nready> ")
        self.assertEqual(settings(2), before)

        outer.type(f"{srun} -J cancelled --pty sh -c 'echo up''here; sleep 600'\n")
        outer.see("uphere\r\n")
        self.cluster.ok("scancel", "-n", "cancelled")
        self.assertRegex(outer.see("ready> "), r"STEP \d+\.0 ON n\d CANCELLED AT")
        self.assertEqual(settings(3), before)

        outer.type(f"{srun} --pty sh -c 'echo up''there; kill -9 $$'; echo code $?\n")
        outer.see("code 137\r\nready> ")
        self.assertEqual(settings(4), before)
        outer.type("exit\n")
        outer.end()

    def test_salloc_leaves_the_keys_to_its_shell(self):
        shell = Terminal(self.cluster, program("salloc"), "bash", "--norc", "--noediting", "-i")
        shell.see("ready> ")
        shell.type("\x03")
        shell.see("ready> ")
        shell.type("sleep 602\n")
        self.running(shell, "sleep 602")
        shell.type("\x03")
        shell.see("ready> ")
        shell.type("echo code $? in $SLURM_JOB_ID; exit 3\n")
        shell.see(r"code 130 in \d+")
        self.assertEqual(shell.end()[0], 3)

    def test_an_interactive_shell_is_hung_up_with_its_allocation(self):
        shell = Terminal(self.cluster, program("salloc"), "bash", "--norc", "--noediting", "-i")
        shell.see("ready> ")
        shell.type("echo this is $SLURM_JOB_ID.\n")
        job = re.search(r"this is (\d+)\.", shell.see(r"this is \d+\.")).group(1)
        self.cluster.ok("scancel", job)
        _, text = shell.end()
        self.assertIn(f"Job allocation {job} has been revoked.", text)


if __name__ == "__main__":
    unittest.main()
