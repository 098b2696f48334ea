"""What careless administrators and strangers do to the daemons: each gets a clear refusal, and nothing that was acknowledged is lost."""
import os
import resource
import socket
import subprocess
import tempfile
import time
import unittest

from spur_cluster import Cluster, eventually, free_port, jwt, program

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
JUNK = (b"GET / HTTP/1.1\r\n\r\n", os.urandom(5000), PREFACE + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01" + b"x" * 100000)


class Misfortunes(unittest.TestCase):
    def test_two_controllers_do_not_share_a_state_directory(self):
        with Cluster(nodes=0) as cluster:
            first = cluster.controllers[0]
            second = os.path.join(cluster.dir, "second.conf")
            with open(first.config) as old, open(second, "w") as new:
                new.write(old.read().replace(f':{first.port}"', f':{free_port()}"', 1))
            tried = subprocess.run([program("spurctld"), "-D", "-f", second], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(tried.returncode, 0)
            self.assertIn("is in use by process ", tried.stderr)
            self.assertTrue(first.alive())

    def test_a_state_directory_that_is_a_file_is_named(self):
        cluster = Cluster(nodes=0, wait=False)
        try:
            controller = cluster.controllers[0]
            state = os.path.join(controller.folder, "state")
            os.rmdir(state)
            open(state, "w").close()
            controller.start()
            self.assertNotEqual(controller.process.wait(60), 0)
            self.assertIn(f"state directory {state} is not a directory", controller.text())
        finally:
            cluster.close()

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount a small disk")
    def test_a_full_disk_makes_the_controller_read_only_until_there_is_room(self):
        cluster = Cluster(nodes=1, wait=False)
        controller = cluster.controllers[0]
        state = os.path.join(controller.folder, "state")
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m,mode=700", "tmpfs", state], capture_output=True).returncode != 0:
            cluster.close()
            self.skipTest("nothing can be mounted here")
        filler = os.path.join(state, "filler")

        def fill(left):
            with open(filler, "a") as file:
                disk = os.statvfs(state)
                size = os.fstat(file.fileno()).st_size
                os.posix_fallocate(file.fileno(), 0, size + disk.f_bavail * disk.f_frsize - left)

        def refused():
            done = cluster.run("sbatch", "--hold", "--wrap", "true")
            return done.returncode != 0 and "no space is left on the disk" in done.stderr

        def accepted():
            return cluster.run("sbatch", "--hold", "--wrap", "true").returncode == 0

        try:
            cluster.start()
            cluster.wait_nodes()
            job = cluster.submit("--wrap", "echo begun; while [ ! -e go ]; do sleep 0.1; done; exit 4")
            eventually(lambda: "begun" in cluster.read(f"slurm-{job}.out"), "a job runs")
            fill(4 << 20)
            eventually(refused, "changes are refused, with the reason")
            open(os.path.join(cluster.work, "go"), "w").close()
            self.assertEqual(cluster.state(job), "RUNNING")  # questions are answered, and nobody could write down its end
            self.assertTrue(controller.alive())
            os.unlink(filler)
            eventually(accepted, "there is room, and nobody had to do anything else")
            record = cluster.wait_ended(job, patience=120)  # its agent says it again
            self.assertEqual((record["ExitCode"], record["Restarts"]), ("4:0", "0"), record)

            held = cluster.submit("--hold", "--wrap", "true")
            fill(4 << 20)
            eventually(refused, "full again")
            controller.stop()
            fill(0)
            controller.start()  # the disk is still full
            eventually(controller.is_serving, "it serves")
            eventually(lambda: str(held) in cluster.run("squeue", "-h", "-o", "%A").stdout.split(), "it answers")
            eventually(refused, "it changes nothing")
            os.unlink(filler)
            eventually(accepted, "there is room again")
            controller.stop()
            subprocess.run(["mount", "-o", "remount,ro", state], check=True)
            controller.start()
            self.assertNotEqual(controller.process.wait(60), 0)
            self.assertIn("Read-only file system", controller.text())
        finally:
            cluster.end_daemons()
            subprocess.run(["umount", "-l", state], capture_output=True)
            cluster.close()

    def test_strangers_at_the_ports_keep_nobody_from_working(self):
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4096), most))
        with Cluster(nodes=1) as cluster:
            controller = cluster.controllers[0].port
            agent = int(cluster.show("node", "n1")["Port"])
            idle = []
            for port in (controller, agent):
                for junk in JUNK:
                    with socket.create_connection(("127.0.0.1", port)) as stranger:
                        stranger.settimeout(60)
                        try:
                            stranger.sendall(junk)
                            while stranger.recv(1000):
                                pass
                        except ConnectionError:
                            pass  # hung up on
                idle += [socket.create_connection(("127.0.0.1", port)) for _ in range(1000)]
            for half in idle[::2]:
                try:
                    half.sendall(PREFACE[:10])  # and not a word more
                except ConnectionError:
                    pass  # too many from one host that say nothing: the oldest have been hung up on
            self.assertEqual(cluster.run("srun", "echo", "hello").stdout, "hello\n")
            job = cluster.submit("--wrap", "true")
            self.assertEqual(cluster.wait_ended(job)["JobState"], "COMPLETED")
            for stranger in idle:
                stranger.close()

    def test_tokens_that_are_expired_forged_or_nonsense_are_refused_each_with_its_reason(self):
        key = os.urandom(32).hex().encode()
        soon, past = int(time.time()) + 1000, int(time.time()) - 1000
        with tempfile.NamedTemporaryFile() as file:
            file.write(key)
            file.flush()
            with Cluster(nodes=0, auth=f'plugin = "jwt"\nkey_file = "{file.name}"\n') as cluster:
                keyless = os.path.join(cluster.dir, "user.conf")  # what a user's machine has
                with open(cluster.controllers[0].config) as old, open(keyless, "w") as new:
                    new.write(old.read().replace(f'key_file = "{file.name}"\n', ""))

                def asked(token):
                    return cluster.run("squeue", env={"SPUR_CONF": keyless, "SLURM_JWT": token})

                self.assertEqual(asked(jwt(key, soon)).returncode, 0)
                for token, why in ((jwt(key, past), "the token expired"), (jwt(b"another key of some length", soon), "signed with another key"),
                                   (jwt(key, soon, algorithm="none"), "algorithm is not HS256"), (jwt(key, soon, user="no such user"), "does not know"),
                                   ("a.b.c", "not base64url"), ("x" * 40000, "too long")):
                    refused = asked(token)
                    self.assertNotEqual(refused.returncode, 0)
                    self.assertIn(why, refused.stderr)
                    self.assertIn(why, cluster.controllers[0].text())


if __name__ == "__main__":
    unittest.main()
