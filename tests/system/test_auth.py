"""Who is calling, end to end: tokens from scontrol, scopes, asking for others, and mechanisms that ask back.

"""
import os
import time
import unittest

from spur_cluster import BUILD, Cluster, eventually

NOBODY = 65534


def with_tokens(**how):
    """A cluster of auth/jwt on loopback, and its key."""
    cluster = Cluster(auth='plugin = "jwt"\n', **how)
    key = os.path.join(cluster.dir, "jwt.key")
    with open(key, "w") as file:
        file.write("k" * 40)
    os.chmod(key, 0o600)
    cluster.auth += f'key_file = "{key}"\n'
    return cluster


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = with_tokens(nodes=0)
        cls.cluster.partitions = '[[partitions]]\nname = "closed"\nnodes = "n1"\nallow_groups = ["nosuchgroup"]\n'
        cls.cluster.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.close()

    def token(self, *words):
        line = self.cluster.ok("scontrol", "token", *words)
        self.assertRegex(line, r"\ASLURM_JWT=[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\n\Z")
        return line.strip().split("=", 1)[1]

    def run_with(self, token, *words):
        # A configuration without the key: all that this caller has is the token.
        config = os.path.join(self.cluster.dir, "client.conf")
        with open(self.cluster.controllers[0].config) as own, open(config, "w") as out:
            out.writelines(line for line in own if not line.startswith("key_file"))
        return self.cluster.run(*words, env={"SPUR_CONF": config, "SLURM_JWT": token})

    def test_a_token_stands_for_its_user(self):
        mine = self.run_with(self.token("lifespan=600"), "sbatch", "-H", "--wrap", "true")
        self.assertEqual(mine.returncode, 0, mine.stderr)
        self.assertIn("issued to uid", eventually(lambda: "token for uid" in self.cluster.controllers[0].text() and self.cluster.controllers[0].text(), "audit"))

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to be several users")
    def test_an_administrator_makes_tokens_for_others_and_nobody_else_does(self):
        token = self.token("username=nobody", "lifespan=60")
        job = self.run_with(token, "sbatch", "-H", "--wrap", "true").stdout.split()[-1]
        self.assertIn(f"({NOBODY})", self.cluster.job(job)["UserId"])
        for name in ("root", "daemon"):
            refused = self.run_with(token, "scontrol", "token", f"username={name}")
            self.assertNotEqual(refused.returncode, 0, refused.stdout)
            self.assertRegex(refused.stderr, "(?i)denied|permi")
        own = self.run_with(token, "scontrol", "token", "lifespan=100000")
        self.assertEqual(own.returncode, 0, own.stderr)
        # A token made with a token ends when that one does.
        import base64, json
        claims = lambda text: json.loads(base64.urlsafe_b64decode(text.split(".")[1] + "=="))
        self.assertLessEqual(claims(own.stdout.strip().split("=", 1)[1])["exp"], claims(token)["exp"] + 1)

    def test_a_scoped_token_does_what_its_scope_says_and_no_more(self):
        token = self.token("scope=read")
        self.assertEqual(self.run_with(token, "squeue").returncode, 0)
        for words in (("sbatch", "--wrap", "true"), ("scontrol", "reconfigure"), ("scontrol", "token")):
            refused = self.run_with(token, *words)
            self.assertNotEqual(refused.returncode, 0, words)
        self.assertIn('the credential\'s scope is "read"', self.cluster.controllers[0].text())
        self.assertEqual(self.run_with(self.token("scope=read,jobs"), "sbatch", "-H", "--wrap", "true").returncode, 0)

    def test_what_is_typed_wrong_is_refused_with_a_sentence(self):
        for words, sentence in ((("lifespan=soon",), "Invalid lifespan: soon"), (("user=x",), "Invalid token option: user=x"),
                                (("scope=fly",), 'there is no scope "fly"'), (("username=no-such-user",), "no-such-user")):
            done = self.cluster.run("scontrol", "token", *words)
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(sentence, done.stdout + done.stderr)

    def test_a_token_for_another_cluster_is_refused(self):
        from spur_cluster import jwt
        token = lambda **claims: jwt(b"k" * 40, int(time.time()) + 500, user=os.popen("id -un").read().strip(), **claims)
        for good in (token(), token(aud="test"), token(aud=["elsewhere", "test"])):
            self.assertEqual(self.run_with(good, "squeue").returncode, 0)
        # The commands do not tell which cluster they mean: the server knows which one it is.
        refused = self.run_with(token(aud="elsewhere"), "squeue")
        self.assertNotEqual(refused.returncode, 0, refused.stdout)
        self.assertIn("the token is meant for cluster elsewhere", refused.stderr + self.cluster.controllers[0].text())


class NoTokens(unittest.TestCase):
    def test_a_plugin_that_makes_none_says_which_does(self):
        with Cluster(nodes=0) as cluster:
            done = cluster.run("scontrol", "token")
            self.assertEqual(done.returncode, 1)
            self.assertIn("auth/local makes no tokens; auth/jwt does", done.stdout + done.stderr)


@unittest.skipUnless(os.geteuid() == 0, "needs root, to be several users")
class OnBehalf(unittest.TestCase):
    def test_scontrol_asks_as_another_user_and_the_trail_says_who_did(self):
        with Cluster(nodes=0) as cluster:
            job = cluster.submit("-H", "--wrap", "true")
            refused = cluster.run("scontrol", f"--uid={NOBODY}", "update", f"jobid={job}", "name=mine")
            self.assertNotEqual(refused.returncode, 0, "root's job is not nobody's to change")
            own = cluster.submit("-H", "--uid=nobody", "--wrap", "true")
            cluster.ok("scontrol", "-u", "nobody", "update", f"jobid={own}", "name=mine")
            self.assertEqual(cluster.job(own)["JobName"], "mine")
            eventually(lambda: f"UpdateJobs: asked by uid 0 on behalf of uid {NOBODY}, from 127.0.0.1:" in cluster.controllers[0].text(), "the trail")


class Legs(unittest.TestCase):
    def test_a_mechanism_that_asks_back_serves_commands_agents_and_steps(self):
        with Cluster(nodes=1, auth='plugin = "actor"\n', settings={
                "plugins": f'dirs = ["{BUILD}/lib/spur", "{BUILD}/tests/lib"]', 'plugin."auth/actor"': "legs = true"}) as cluster:
            job = cluster.submit("--wrap", "srun echo hello")
            self.assertEqual(cluster.wait_ended(job)["JobState"], "COMPLETED")
            self.assertIn("hello", cluster.read(f"slurm-{job}.out"))


class Attacks(unittest.TestCase):
    """A plugin that does not do its work, inside of the controller: nobody gets in, and the log says why."""

    def setUp(self):
        self.cluster = Cluster(nodes=0, auth='plugin = "actor"\n')
        self.trouble = os.path.join(self.cluster.dir, "trouble")
        self.cluster.settings = {"plugins": f'dirs = ["{BUILD}/lib/spur", "{BUILD}/tests/lib"]', 'plugin."auth/actor"': f'trouble = "{self.trouble}"'}
        self.cluster.__enter__()
        self.addCleanup(self.cluster.close)

    def suffer(self, word):
        with open(self.trouble, "w") as file:
            file.write(word)
        done = self.cluster.run("sbatch", "-H", "--wrap", "true")
        os.remove(self.trouble)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return done.stderr

    def test_whoever_is_not_named_is_nobody(self):
        self.assertIn("auth/actor accepted the credential and did not say whose it is", self.suffer("silent"))
        self.assertEqual(self.cluster.ok("squeue", "-h"), "")

    def test_a_verify_that_waits_too_long_is_stopped(self):
        self.assertIn("stopped", self.suffer("wait"))
        self.assertEqual(self.cluster.ok("squeue", "-h"), "")

    def test_a_verify_that_never_comes_back_is_named_in_the_log(self):
        with open(self.trouble, "w") as file:
            file.write("hang")
        waiting = self.cluster.popen("squeue")
        self.addCleanup(waiting.kill)
        eventually(lambda: "plugin auth/actor has been in verify() for" in self.cluster.controllers[0].text(), "the log names it", 40)
        self.assertIn('isolate = true in [plugin."auth/actor"]', self.cluster.controllers[0].text())


if __name__ == "__main__":
    unittest.main()
