"""[[nodes]] addr and port: where the agents listen, what the controller shows, and how srun reaches them."""
import unittest

from spur_cluster import Cluster, free_port


class Addresses(unittest.TestCase):
    def test_agents_are_reached_by_the_address_of_their_node(self):
        """Two agents on one machine share the port, each on a loopback address of its own."""
        port = free_port()
        cluster = Cluster(nodes=2, node_lines=f'addr = "127.0.0.[11-12]"\nport = {port}')
        for agent in cluster.agents.values():
            agent.listens = False
        with cluster:
            for node, addr in (("n1", "127.0.0.11"), ("n2", "127.0.0.12")):
                shown = cluster.show("node", node)
                self.assertEqual((shown["NodeAddr"], shown["Port"]), (addr, str(port)))
            self.assertEqual(sorted(cluster.ok("srun", "-N2", "-l", "echo", "here").splitlines()), ["0: here", "1: here"])
            cluster.ok("scontrol", "reconfigure")
            self.assertEqual(cluster.show("node", "n2")["NodeAddr"], "127.0.0.12")
            self.assertEqual(cluster.ok("srun", "-w", "n2", "echo", "again"), "again\n")


if __name__ == "__main__":
    unittest.main()
