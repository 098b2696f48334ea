"""What an administrator does and meets: a trial of the configuration, a renamed cluster, a reconfiguration, the audit trail."""
import os
import re
import subprocess
import tempfile
import unittest

from spur_cluster import Cluster, eventually, program

FINE = """
[[nodes]]
names = "n[1-2]"
[[partitions]]
name = "main"
nodes = "ALL"
default = true
"""


class Trial(unittest.TestCase):
    """spurctld -t"""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spur-trial-")
        self.addCleanup(folder.cleanup)
        self.dir = folder.name
        os.chmod(self.dir, 0o755)

    def check(self, text, top=""):
        conf = os.path.join(self.dir, "spur.conf")
        with open(conf, "w") as file:
            file.write(f'{top}\n[controller]\nlisten_addr = "127.0.0.1:6817"\nstate_dir = "{self.dir}/state"\n{text}')
        os.chmod(conf, 0o644)
        return subprocess.run([program("spurctld"), "-t", "-f", conf], capture_output=True, text=True, timeout=60)

    def assert_refused(self, done, sentence):
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(sentence, done.stderr)
        self.assertNotIn("fine", done.stdout)

    def assert_warned(self, done, sentence):
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"spurctld: warning: {sentence}", done.stderr)
        self.assertIn("can be used; see the warnings", done.stdout)

    def test_a_sound_configuration_is_fine(self):
        done = self.check(FINE)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("are fine", done.stdout)
        self.assertFalse(os.path.exists(f"{self.dir}/state"))

    def test_options_of_a_plugin_that_does_not_exist_are_refused(self):
        self.assert_refused(self.check(FINE + '[plugin."sched/nope"]\nx = 1\n'), '[plugin."sched/nope"] has no effect: plugin sched/nope was not found')

    def test_a_plugin_of_another_daemon_may_be_installed_elsewhere(self):
        self.assert_warned(self.check(FINE + '[plugin."gpu/nope"]\nx = 1\n'), '[plugin."gpu/nope"] has no effect: plugin gpu/nope was not found')

    def test_several_controllers_need_a_key_between_them(self):
        hosts = 'hosts = ["127.0.0.1:6817", "127.0.0.2:6817", "127.0.0.3:6817"]\n'
        done = self.check(hosts + FINE)
        self.assert_refused(done, f"key file {self.dir}/state/raft.key is missing")
        os.mkdir(f"{self.dir}/state", 0o700)
        with open(os.open(f"{self.dir}/state/raft.key", os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write("k" * 64)
        self.assert_warned(self.check(hosts + FINE), "auth is local and there are several controllers: every controller and every node needs a copy")

    def test_nodes_have_the_names_of_hosts(self):
        for name in ("a b", "n1;reboot", "n$1", "-n1"):
            self.assert_refused(self.check(FINE.replace("n[1-2]", name)), f'node "{name}"')

    def test_no_nodes_and_no_partitions_are_warned_of(self):
        done = self.check("")
        self.assert_warned(done, "no [[nodes]] are described")
        self.assert_warned(done, "no [[partitions]] are described")

    def test_an_empty_cluster_name_is_refused(self):
        self.assert_refused(self.check(FINE, top='cluster_name = ""'), "cluster_name must not be empty")


class Operations(unittest.TestCase):
    def test_a_changed_cluster_name_is_refused_until_it_is_confirmed(self):
        with Cluster(nodes=1) as cluster:
            controller, agent = cluster.controllers[0], cluster.agents["n1"]
            job = cluster.submit("--hold", "--wrap", "true")
            with open(controller.config) as file:
                text = file.read()

            def rename():
                with open(controller.config, "w") as file:
                    file.write(text.replace('cluster_name = "test"', 'cluster_name = "other"'))

            rename()
            done = cluster.run("scontrol", "reconfigure")
            self.assertEqual(done.returncode, 1)
            self.assertIn("a running cluster cannot be renamed", done.stderr)
            agent.stop()
            controller.stop()
            refused = subprocess.run([program("spurctld"), "-D", "-f", controller.config], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn(f'the state in {controller.folder}/state is that of cluster "test", and the configuration says cluster_name = "other"; '
                          "correct cluster_name or state_dir, or start once with --rename-cluster", refused.stderr)
            # A state that has no note of its name is known by what is in it.
            os.unlink(f"{controller.folder}/state/cluster_name")
            refused = subprocess.run([program("spurctld"), "-D", "-f", controller.config], capture_output=True, text=True, timeout=60)
            self.assertNotEqual(refused.returncode, 0)
            self.assertIn('is that of cluster "test"', refused.stderr)
            # Confirmed once, it is the name from then on.
            controller.command = [program("spurctld"), "-D", "-v", "-f", controller.config, "--rename-cluster"]
            super(type(controller), controller).start()
            eventually(controller.is_serving, "it serves under its new name")
            eventually(lambda: cluster.run("scontrol", "show", "job", job).returncode == 0, "the job is still there")
            controller.stop()
            controller.command.remove("--rename-cluster")
            super(type(controller), controller).start()
            eventually(controller.is_serving, "no word is needed any more")

    def test_a_refused_reconfiguration_is_told_once_and_logged_once(self):
        with Cluster(nodes=1) as cluster:
            controller = cluster.controllers[0]
            cluster.partitions = '[[partitions]]\nname = "p"\nnodes = "n7"\n'
            cluster.write_config(controller)
            done = cluster.run("scontrol", "reconfigure")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count('partition "p": no [[nodes]] describes n7'), 1, done.stderr)
            said = [line for line in controller.text().splitlines() if 'partition "p": no [[nodes]] describes n7' in line]
            self.assertEqual(len(said), 1, said)
            self.assertRegex(said[0], "error: reconfigure by uid [0-9]+ refused, the old configuration stays: ")

    def test_what_leaves_under_running_jobs_is_told(self):
        with Cluster(nodes=2, partitions='[[partitions]]\nname = "extra"\nnodes = "n1"\n') as cluster:
            controller = cluster.controllers[0]
            first = cluster.submit("-p", "extra", "--wrap", "sleep 1000")
            second = cluster.submit("-w", "n2", "--wrap", "sleep 1000")
            for job in (first, second):
                cluster.wait_state(job, "RUNNING")
            cluster.partitions = ""
            gone = cluster.agents.pop("n2")  # its agent runs on; only the configuration loses it
            cluster.write_config(controller)
            done = cluster.run("scontrol", "reconfigure")
            cluster.agents["n2"] = gone
            self.assertEqual(done.returncode, 0, done.stderr)
            for sentence in (f"node n2 leaves the configuration: job {second} runs there and may end as usual; nothing new starts there",
                             f"partition extra leaves the configuration: job {first} runs there and may end as usual; nothing new starts there"):
                self.assertEqual(done.stderr.count(f"scontrol: warning: {sentence}\n"), 1, done.stderr)
                self.assertEqual(controller.text().count(f"warning: reconfigure: {sentence}\n"), 1)
            cluster.ok("scancel", first, second)

    def test_the_log_is_an_audit_trail(self):
        with Cluster(nodes=2) as cluster:
            job = cluster.submit("--hold", "-J", 'x"\njob 9: ended', "--wrap", "exit 3")
            cluster.ok("scontrol", "update", f"jobid={job}", "comment=for the audit")
            cluster.ok("scontrol", "release", job)
            eventually(lambda: cluster.ok("squeue", "-h", "-t", "all", "-j", job, "-o", "%T").strip() == "FAILED", "it has ended")
            other = cluster.submit("--hold", "--wrap", "true")
            cluster.ok("scancel", other)
            cluster.ok("scontrol", "update", "nodename=n2", "state=drain", "reason=broken fan")
            cluster.ok("sacctmgr", "-i", "add", "account", "physics")
            cluster.ok("scontrol", "reconfigure")
            me = f"uid {os.geteuid()}( [(][a-z0-9_-]+[)])?"
            wanted = [rf"info: job {job}: submitted by {me}, name \"x\\\"\\njob 9: ended\", partition main$",
                      rf"info: job {job}: updated by {me}: comment=\"for the audit\"$",
                      rf"info: job {job}: released by {me}$",
                      rf"info: job {job}: started on n1, partition main, attempt 1$",
                      rf"info: job {job}: ended FAILED, exit code 3:0, after [0-9]+ s$",
                      rf"info: job {other}: cancelled by {me}$",
                      rf"info: job {other}: ended CANCELLED, exit code 0:0$",
                      rf"info: node n2: IDLE[+]DRAIN, reason \"broken fan\", set by uid {os.geteuid()}$",
                      rf"info: account \"physics\": created by {me}$",
                      rf"info: reconfigured by uid {os.geteuid()}"]

            def missing():
                text = cluster.controllers[0].text()
                return [words for words in wanted if len(re.findall(words, text, re.M)) != 1]

            try:
                eventually(lambda: not missing(), "every line is there once")
            except AssertionError:
                self.assertEqual(missing(), [], cluster.controllers[0].text())


if __name__ == "__main__":
    unittest.main()
