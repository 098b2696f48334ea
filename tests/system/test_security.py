"""Who may do what: wrong keys, strangers, other users' jobs, unknown users. Refused, logged, nothing changed.

"""
import os
import shutil
import socket
import threading
import unittest

from spur_cluster import Cluster, Daemon, eventually

NOBODY, UNKNOWN = 65534, 61234


def as_user(uid):
    return ["setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups"]


class WrongKey(unittest.TestCase):
    def test_a_caller_with_another_key_is_refused_and_logged_and_changes_nothing(self):
        with Cluster(nodes=1) as cluster:
            job = cluster.submit("-H", "--wrap", "true")
            forged = os.path.join(cluster.dir, "forged.conf")
            key = os.path.join(cluster.dir, "forged.key")
            with open(key, "wb") as file:
                file.write(os.urandom(32))
            os.chmod(key, 0o600)
            with open(cluster.controllers[0].config) as config, open(forged, "w") as out:
                out.write(config.read().replace(f"{cluster.dir}/auth.key", key))
            for words in (("sbatch", "--wrap", "true"), ("scancel", job), ("scontrol", "release", job), ("squeue",), ("srun", "true")):
                done = cluster.run(*words, env={"SPUR_CONF": forged})
                self.assertNotEqual(done.returncode, 0, words)
                self.assertIn("authentication", (done.stdout + done.stderr).lower(), words)
            eventually(lambda: "Submit" in cluster.controllers[0].text(), "the refusal is in the log")
            self.assertEqual(cluster.ok("squeue", "-h", "-o", "%A %r").split(), [str(job), "JobHeldUser"])


class Eavesdropper(threading.Thread):
    """Stands between one client and the controller, passes everything on, and keeps what the client said."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port, self.target, self.heard = self.listener.getsockname()[1], port, b""
        self.start()

    def run(self):
        client, _ = self.listener.accept()
        self.listener.close()
        with client, socket.create_connection(("127.0.0.1", self.target)) as server:
            threading.Thread(target=self.back, args=(server, client), daemon=True).start()
            while data := client.recv(65536):
                self.heard += data
                server.sendall(data)

    @staticmethod
    def back(server, client):
        try:
            while data := server.recv(65536):
                client.sendall(data)
        except OSError:
            pass


class Replay(unittest.TestCase):
    def test_a_recorded_request_sent_again_is_refused_and_logged_and_changes_nothing(self):
        with Cluster(nodes=0) as cluster:
            controller = cluster.controllers[0]
            job = cluster.submit("-H", "--wrap", "true")
            spy = Eavesdropper(controller.port)
            cluster.ok("scontrol", "update", f"jobid={job}", "name=first", env={"SPUR_CONTROLLER_ADDR": f"127.0.0.1:{spy.port}"})
            self.assertEqual(cluster.job(job)["JobName"], "first")
            self.assertIn(b"PRI * HTTP/2.0", spy.heard)
            cluster.ok("scontrol", "update", f"jobid={job}", "name=second")
            before = len(controller.text())
            # The same bytes on a new connection: HTTP/2 keeps no state between connections, so they mean the same.
            with socket.create_connection(("127.0.0.1", controller.port)) as again:
                again.sendall(spy.heard)
                eventually(lambda: "UpdateJobs" in controller.text()[before:], "the refusal is in the log")
            self.assertRegex(controller.text()[before:], "(?i)replay|used before|again|twice")
            self.assertEqual(cluster.job(job)["JobName"], "second")


class TokensInClear(unittest.TestCase):
    """auth/jwt: whoever sees a token can use it, and the server proves nothing. That is for TLS, or for one machine."""

    def test_a_controller_with_tokens_and_no_tls_serves_its_own_machine_only(self):
        cluster = Cluster(nodes=0, auth='plugin = "jwt"\n')
        self.addCleanup(cluster.close)
        key = os.path.join(cluster.dir, "jwt.key")
        with open(key, "w") as file:
            file.write("k" * 40)
        os.chmod(key, 0o600)
        cluster.auth += f'key_file = "{key}"\n'
        controller = cluster.controllers[0]
        remedy = "sends tokens that whoever sees them can use, so it cannot serve 0.0.0.0:"
        for host, works in (("127.0.0.1", True), ("0.0.0.0", False)):
            controller.host = host
            cluster.write_config(controller)
            trial = cluster.run("spurctld", "-t", "-f", controller.config)
            self.assertEqual(trial.returncode == 0, works, trial.stdout + trial.stderr)
            controller.start()
            if works:
                eventually(controller.is_serving, "it serves")
                controller.stop()
            else:
                self.assertIn(remedy, trial.stdout + trial.stderr)
                self.assertIn("under [tls], or listen on 127.0.0.1", trial.stdout + trial.stderr)
                self.assertNotEqual(controller.process.wait(60), 0)
                self.assertIn(remedy, controller.text())


@unittest.skipUnless(os.geteuid() == 0, "needs root, to be several users")
@unittest.skipUnless(shutil.which("munged", path="/usr/sbin:/usr/bin:/sbin:/bin"), "needs munged")
@unittest.skipUnless(shutil.which("setpriv"), "needs setpriv")
class SeveralUsers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cluster = Cluster(nodes=1, cpus=4)
        cls.cluster = cluster
        folder = os.path.join(cluster.dir, "munge")
        os.mkdir(folder, 0o755)
        with open(os.path.join(folder, "key"), "wb") as key:
            key.write(os.urandom(128))
        os.chmod(os.path.join(folder, "key"), 0o400)
        cls.socket = os.path.join(folder, "socket")
        munged = shutil.which("munged", path="/usr/sbin:/usr/bin:/sbin:/bin")
        keeper = Daemon([munged, "--foreground", "--force", f"--socket={cls.socket}", f"--key-file={folder}/key", f"--pid-file={folder}/pid",
                         f"--log-file={folder}/log", f"--seed-file={folder}/seed"], os.path.join(cluster.dir, "munged.log"))
        keeper.start()
        cluster.helpers.append(keeper)
        eventually(lambda: os.path.exists(cls.socket), "munged listens")
        cluster.auth = 'plugin = "munge"\n'
        cluster.settings['plugin."auth/munge"'] = f'socket = "{cls.socket}"'
        cluster.partitions = "".join(f'[[partitions]]\nname = "{name}"\nnodes = "n1"\n{rule}\n' for name, rule in (
            ("staff", "root_only = true"), ("group", 'allow_groups = ["nogroup", "nobody"]'), ("others", 'allow_groups = ["daemon"]')))
        cluster.__enter__()
        os.chmod(cluster.controllers[0].folder, 0o755)

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def run(self, result=None):
        before = len(result.failures) + len(result.errors)
        super().run(result)
        if len(result.failures) + len(result.errors) > before:
            self.cluster.keep = True

    def test_a_user_runs_jobs_as_themselves(self):
        job = self.cluster.submit("--wrap", "id -u", wrapper=as_user(NOBODY))
        self.assertEqual(self.cluster.wait_ended(job)["JobState"], "COMPLETED")
        self.assertEqual(self.cluster.read(f"slurm-{job}.out"), f"{NOBODY}\n")
        self.assertIn(f"({NOBODY})", self.cluster.job(job)["UserId"])

    def test_nobody_changes_the_job_of_another_user(self):
        job = self.cluster.submit("-H", "--wrap", "true")
        before = self.cluster.job(job)
        for words in (("scancel", job), ("scontrol", "release", job), ("scontrol", "update", f"jobid={job}", "name=mine"),
                      ("scontrol", "requeue", job), ("scontrol", "write", "batch_script", job, "-")):
            done = self.cluster.run(*words, wrapper=as_user(NOBODY))
            self.assertRegex(done.stdout + done.stderr, "(?i)denied|permission|invalid user id", words)
        self.assertEqual(self.cluster.job(job), before)
        self.cluster.ok("scancel", job)

    def test_an_ordinary_user_does_not_administer(self):
        before = self.cluster.show("partition", "main")
        for words in (("scontrol", "update", "nodename=n1", "state=drain", "reason=x"), ("scontrol", "reconfigure"), ("scontrol", "shutdown"),
                      ("scontrol", "update", "partition=main", "state=down")):
            done = self.cluster.run(*words, wrapper=as_user(NOBODY))
            self.assertNotEqual(done.returncode, 0, words)
            self.assertRegex(done.stdout + done.stderr, "(?i)denied|permission|invalid user id", words)
        self.assertIn("uid 65534", self.cluster.controllers[0].text())
        self.assertEqual(self.cluster.show("partition", "main"), before)
        self.assertNotIn("DRAIN", self.cluster.node_state("n1"))

    def test_operators_administrators_and_coordinators_may_do_what_slurm_lets_them(self):
        asks = lambda *words: self.cluster.run(*words, wrapper=as_user(NOBODY)).returncode == 0
        manage = lambda *words: self.cluster.ok("sacctmgr", "-i", *words)
        manage("add", "account", "phys")
        manage("add", "user", "nobody,root", "account=phys")
        job = self.cluster.submit("-A", "phys", "-H", "--wrap", "true")
        self.assertFalse(asks("scontrol", "update", f"jobid={job}", "name=mine"))
        self.assertFalse(asks("sacctmgr", "-i", "add", "account", "mine"))
        manage("modify", "user", "nobody", "set", "adminlevel=operator")
        self.assertTrue(asks("scontrol", "update", f"jobid={job}", "name=mine"), "operators may change jobs of others")
        self.assertTrue(asks("sacctmgr", "-i", "add", "account", "mine"))
        self.assertTrue(asks("scontrol", "update", "nodename=n1", "comment=mine"))
        self.assertFalse(asks("sacctmgr", "-i", "modify", "user", "nobody", "set", "adminlevel=administrator"), "operators make no administrators")
        manage("modify", "user", "nobody", "set", "adminlevel=none")
        self.assertFalse(asks("scancel", job))
        manage("add", "coordinator", "account=phys", "names=nobody")
        self.assertTrue(asks("scancel", job), "coordinators may change the jobs of their account")
        self.assertFalse(asks("sacctmgr", "-i", "add", "qos", "mine"))

    def test_an_update_opens_no_partition_that_a_submission_does_not(self):
        job = self.cluster.submit("-H", "--wrap", "true", wrapper=as_user(NOBODY))
        for partition, sentence in (("staff", "denied"), ("others", "User's group not permitted to use this partition")):
            for words in (("sbatch", "-p", partition, "--wrap", "true"), ("scontrol", "update", f"jobid={job}", f"partition={partition}")):
                done = self.cluster.run(*words, wrapper=as_user(NOBODY))
                self.assertNotEqual(done.returncode, 0, words)
                self.assertIn(sentence, done.stdout + done.stderr, words)
        self.assertEqual(self.cluster.job(job)["Partition"], "main")
        shown = lambda *words: set(self.cluster.ok("sinfo", *words, "-h", "-o", "%R", wrapper=as_user(NOBODY)).split())
        self.assertEqual(shown(), {"main", "staff", "group"})
        self.assertEqual(shown("-a"), {"main", "staff", "group", "others"})
        self.cluster.ok("scontrol", "update", f"jobid={job}", "partition=group", wrapper=as_user(NOBODY))
        self.assertEqual(self.cluster.job(job)["Partition"], "group")
        self.cluster.ok("sbatch", "-H", "-p", "others", "--wrap", "true")  # root's groups do not matter
        self.cluster.ok("scontrol", "update", f"jobid={job}", "partition=others")  # nor does it where an operator puts a job
        self.cluster.ok("scancel", job)

    def test_only_root_submits_as_somebody_else(self):
        job = self.cluster.submit("-H", "--uid=nobody", "--wrap", "true")
        self.assertIn(f"({NOBODY})", self.cluster.job(job)["UserId"])
        self.cluster.ok("scancel", job)
        self.cluster.ok("sacctmgr", "-i", "add", "account", "boss")
        self.cluster.ok("sacctmgr", "-i", "add", "user", "nobody", "account=boss", "adminlevel=administrator")
        try:
            done = self.cluster.run("sbatch", "-H", "--uid=root", "--wrap", "true", wrapper=as_user(NOBODY))
            self.assertNotEqual(done.returncode, 0, done.stdout)
            self.assertRegex(done.stderr, "(?i)denied|permitted")
        finally:
            self.cluster.ok("sacctmgr", "-i", "modify", "user", "nobody", "set", "adminlevel=none")

    def test_private_data_is_shown_to_its_owner_and_to_operators(self):
        job = self.cluster.submit("-A", "elsewhere", "-H", "--wrap", "true")
        own = self.cluster.submit("-H", "--wrap", "true", wrapper=as_user(NOBODY))
        listed = lambda *wrapper: self.cluster.ok("squeue", "-h", "-o", "%A", wrapper=list(wrapper)).split()
        self.assertIn(str(job), listed(*as_user(NOBODY)))
        auth = self.cluster.auth
        self.cluster.auth = auth + 'private_data = ["jobs", "nodes"]\n'
        self.reconfigure()
        try:
            self.assertNotIn(str(job), listed(*as_user(NOBODY)))
            self.assertIn(str(own), listed(*as_user(NOBODY)))
            self.assertIn(str(job), listed())
            done = self.cluster.run("sinfo", wrapper=as_user(NOBODY))
            self.assertIn("denied", done.stdout + done.stderr)
            done = self.cluster.run("scontrol", "show", "job", job, wrapper=as_user(NOBODY))
            self.assertNotIn(f"JobId={job}", done.stdout)
            self.assertIn("jobs,nodes", self.cluster.ok("scontrol", "show", "config"))
        finally:
            self.cluster.auth = auth
            self.reconfigure()
        self.cluster.ok("scancel", job, own)

    def reconfigure(self):
        self.cluster.write_config(self.cluster.controllers[0])
        self.cluster.ok("scontrol", "reconfigure")

    def test_requests_that_are_too_large_are_refused_at_once_and_hurt_nobody(self):
        ask = lambda *words, **how: self.cluster.run(*words, wrapper=as_user(NOBODY), **how)
        done = ask("srun", "-O", "-n", "4294967295", "true")
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "(?i)task count|invalid|too large")
        many = "1_[" + ",".join(["0-4000000"] * 6000) + "]"
        self.assertEqual(ask("squeue", "-h", "-j", many).stdout, "")
        self.assertIn("invalid", ask("sbatch", "--array=0-999999:2,0-999999:3", "--wrap", "true").stderr.lower())
        done = ask("sbatch", "--comment=" + "x" * 70000, "--wrap", "true")
        self.assertIn("comment has 70000 bytes, at most 65536 are taken", done.stderr)
        self.cluster.ok("scontrol", "ping")

    def test_a_uid_that_no_user_has_submits_nothing(self):
        before = self.cluster.ok("squeue", "-h", "-t", "all", "-o", "%A")
        done = self.cluster.run("sbatch", "-H", "--wrap", "true", wrapper=as_user(UNKNOWN))
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stderr, "(?i)user")
        self.assertEqual(self.cluster.ok("squeue", "-h", "-t", "all", "-o", "%A"), before)

    def test_an_agent_that_is_not_root_is_refused(self):
        agent = self.cluster.agents["n1"]
        state = os.path.join(self.cluster.work, "forged-agent")
        os.mkdir(state)
        os.chown(state, NOBODY, NOBODY)
        agent.kill()  # so that the name is free to be taken
        forged = Daemon([*as_user(NOBODY), agent.command[0], *agent.command[1:]], os.path.join(self.cluster.dir, "forged.log"))
        forged.command[forged.command.index("--state-dir") + 1] = state
        forged.start()
        try:
            eventually(lambda: "tried to open an agent's session; refused" in self.cluster.controllers[0].text(), "the refusal is in the log")
            self.assertNotIn("joined cluster", forged.text())
        finally:
            forged.kill()
        agent.start()
        self.cluster.wait_nodes()


if __name__ == "__main__":
    unittest.main()
