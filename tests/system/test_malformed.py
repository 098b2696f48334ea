"""Messages nobody meant, at every call the daemons serve: answered or refused, and the daemons go on.

$SPUR_STORM_SEED repeats a run, $SPUR_STORM_ROUNDS (40) makes a longer one.
"""
import os
import random
import re
import unittest

from spur_cluster import Cluster

ROUNDS = int(os.environ.get("SPUR_STORM_ROUNDS", "40"))
PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "proto", "spur", "v1")
LEFT_OUT = {"Shutdown"}  # it would do as it is told


def calls(file):
    """Every call of a .proto file; streams with a ~ in front."""
    with open(os.path.join(PROTO, file)) as text:
        found = re.findall(r"^\s*rpc (\w+)\((stream )?\w+\) returns \((stream )?\w+\)", text.read(), re.M)
    return ["~" * bool(sends or answers) + name for name, sends, answers in found if name not in LEFT_OUT]


class Malformed(unittest.TestCase):
    def test_no_message_brings_a_daemon_down(self):
        seed = int(os.environ.get("SPUR_STORM_SEED") or random.randrange(1 << 32))
        print(f"seed {seed}, {ROUNDS} rounds", flush=True)
        with Cluster(nodes=2) as cluster:
            methods = calls("controller.proto")
            self.assertGreater(len(methods), 25)
            address = cluster.show("node", "n1")
            agent = f"{address['NodeAddr']}:{address['Port']}@"
            methods += [name[:-len(name.lstrip("~"))] + agent + name.lstrip("~") for name in calls("agent.proto")]
            before = cluster.controllers[0].process.pid
            with cluster.popen(os.path.join("..", "tests", "bin", "rpc_storm"), seed, ROUNDS, *methods) as storm:
                out, err = storm.communicate(timeout=150)
            self.assertEqual(storm.returncode, 0, out + err)
            answered, sent = map(int, re.match(r"(\d+) of (\d+)", out).groups())
            print(out.strip(), flush=True)
            self.assertEqual(answered, sent, "some calls got no answer")
            self.assertTrue(cluster.controllers[0].alive() and cluster.controllers[0].process.pid == before)
            self.assertTrue(all(agent.alive() for agent in cluster.agents.values()))
            self.assertIn("test", cluster.ok("scontrol", "show", "config"))
            self.assertNotIn("Sanitizer", cluster.controllers[0].text())


if __name__ == "__main__":
    unittest.main()
