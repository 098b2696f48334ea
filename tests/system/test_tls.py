"""TLS on every port: the daemons know each other by certificate, users by credential, and who does not fit is told why."""
import os
import shutil
import subprocess
import unittest

from spur_cluster import Cluster, eventually


class Authority:
    """A certificate authority in a folder, by the openssl command."""

    def __init__(self, folder, name):
        self.folder, self.name, self.certificate = folder, name, os.path.join(folder, f"{name}.pem")
        self.key = os.path.join(folder, f"{name}.key")
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                     "-keyout", self.key, "-out", self.certificate)

    @staticmethod
    def openssl(*words):
        subprocess.run(["openssl", *words], check=True, capture_output=True)

    def issue(self, name, address="127.0.0.1"):
        key, request, certificate, extension = (os.path.join(self.folder, name + end) for end in (".key", ".csr", ".pem", ".ext"))
        with open(extension, "w") as file:
            file.write(f"subjectAltName=IP:{address},DNS:localhost\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        self.openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial", "-days", "2",
                     "-extfile", extension, "-out", certificate)
        os.chmod(key, 0o600)
        return certificate, key


@unittest.skipUnless(shutil.which("openssl"), "needs the openssl command")
class Tls(unittest.TestCase):
    def cluster(self):
        cluster = Cluster(nodes=2)
        self.authority = Authority(cluster.dir, "authority")
        self.certificate, self.key = self.authority.issue("daemon")
        cluster.settings["tls"] = f'certificate = "{self.certificate}"\nkey = "{self.key}"\nca = "{self.authority.certificate}"\nagent_names = ["%n", "daemon"]'
        return cluster

    def other_config(self, cluster, name, **changes):
        """The cluster's configuration with other words in it, as somebody else might have it."""
        path = os.path.join(cluster.dir, name)
        with open(cluster.controllers[0].config) as config:
            text = config.read()
        for old, new in changes.values():
            self.assertIn(old, text)
            text = text.replace(old, new)
        with open(path, "w") as file:
            file.write(text)
        return path

    def test_daemons_and_commands_work_over_tls_and_strangers_are_told_why_not(self):
        with self.cluster() as cluster:
            job = cluster.submit("-N2", "--wrap", "srun -N2 -l echo hello")
            self.assertEqual(cluster.wait_ended(job)["JobState"], "COMPLETED")
            self.assertEqual(sorted(cluster.read(f"slurm-{job}.out").splitlines()), ["0: hello", "1: hello"])
            self.assertEqual(cluster.ok("srun", "-w", "n2", "echo", "hi"), "hi\n")
            self.check_plain_client(cluster)
            self.check_wrong_authority(cluster)
            self.check_user_without_certificate(cluster)
            self.check_agent(cluster, "bare.conf", "all three or none", certificate=(f'certificate = "{self.certificate}"\nkey = "{self.key}"\n', ""))
            stranger = Authority(cluster.dir, "stranger")
            forged, forged_key = stranger.issue("forged")
            self.check_agent(cluster, "forged.conf", "unknown ca", certificate=(self.certificate, forged), key=(self.key, forged_key))
            other, other_key = self.authority.issue("n1")
            self.check_agent(cluster, "n1.conf", "its certificate is made out to n1, localhost, and node n2 wants one of n2, daemon",
                             certificate=(self.certificate, other), key=(self.key, other_key))
            self.check_own_certificate(cluster)
            self.assertEqual(len(cluster.ok("squeue", "-h").split()), 0, "nobody changed anything")

    def check_own_certificate(self, cluster):
        certificate, key = self.authority.issue("n2")
        agent = cluster.agents["n2"]
        agent.stop()
        agent.config = self.other_config(cluster, "n2.conf", certificate=(self.certificate, certificate), key=(self.key, key))
        agent.start()
        eventually(agent.has_joined, "its certificate names its node")

    def check_plain_client(self, cluster):
        tls = f'[tls]\n{cluster.settings["tls"]}\n'
        plain = self.other_config(cluster, "plain.conf", tls=(tls, ""))
        done = cluster.run("sbatch", "--wrap", "true", env={"SPUR_CONF": plain})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("TLS", done.stderr)

    def check_wrong_authority(self, cluster):
        other = Authority(cluster.dir, "other")
        wrong = self.other_config(cluster, "wrong.conf", ca=(f'ca = "{self.authority.certificate}"', f'ca = "{other.certificate}"'))
        done = cluster.run("sbatch", "--wrap", "true", env={"SPUR_CONF": wrong})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the peer's certificate is not accepted", done.stderr)

    def check_user_without_certificate(self, cluster):
        """Users cannot read the daemons' key; their credential says who they are."""
        user = self.other_config(cluster, "user.conf", certificate=(f'certificate = "{self.certificate}"\nkey = "{self.key}"\n', ""))
        self.assertEqual(cluster.ok("srun", "-N1", "echo", "mine", env={"SPUR_CONF": user}), "mine\n")

    def check_agent(self, cluster, name, sentence, **changes):
        agent = cluster.agents["n2"]
        agent.stop()
        agent.config = self.other_config(cluster, name, **changes)
        agent.start()
        eventually(lambda: sentence in agent.text(), f"the agent says why it cannot join: {sentence}")
        self.assertNotIn("joined cluster", agent.text())
        agent.stop()
        agent.config = None
        agent.start()
        eventually(agent.has_joined, "with its own certificate it joins again")
        eventually(lambda: cluster.node_state("n2") == "IDLE", "its node is up")


if __name__ == "__main__":
    unittest.main()
