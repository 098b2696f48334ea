"""What a client in another language finds at a daemon's port, by gRPC's own Python packages: health, reflection, compressed calls. They
come from PyPI into an environment of their own; where PyPI cannot be reached the test is skipped, and says so."""
import os
import pwd
import re
import subprocess
import sys
import tempfile
import time
import unittest

from spur_cluster import PATIENCE, Cluster, jwt

INSIDE = "SPUR_TEST_GRPC_PACKAGES"  # set in the interpreter that has the packages
if os.environ.get(INSIDE):
    import grpc
    from google.protobuf import descriptor_pool, message_factory
    from grpc_health.v1 import health_pb2, health_pb2_grpc
    from grpc_reflection.v1alpha import reflection_pb2
    from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase


@unittest.skipUnless(os.environ.get(INSIDE), "runs in an interpreter of its own")
class StockClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=1)
        key = os.path.join(cls.cluster.dir, "jwt.key")
        with open(key, "wb") as file:
            file.write(b"k" * 40)
        os.chmod(key, 0o600)
        cls.cluster.auth = f'plugin = "jwt"\nkey_file = "{key}"\n'
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.close)
        cls.agent = re.search(r"serving at (\S+)", cls.cluster.agents["n1"].text()).group(1)
        cls.controller = cls.cluster.controllers[0].address
        cls.metadata = [("spur-auth", jwt(b"k" * 40, int(time.time()) + 3600, user=pwd.getpwuid(os.geteuid()).pw_name))]

    def channel(self, address):
        channel = grpc.insecure_channel(address)
        self.addCleanup(channel.close)
        return channel

    def call(self, channel, method, words=None, **how):
        """A call of spur.v1.Controller by what reflection says of it, and nothing else."""
        pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
        described = pool.FindServiceByName("spur.v1.Controller").FindMethodByName(method)
        request, reply = (message_factory.GetMessageClass(kind) for kind in (described.input_type, described.output_type))
        ask = channel.unary_unary(f"/spur.v1.Controller/{method}", request_serializer=request.SerializeToString, response_deserializer=reply.FromString)
        return ask(request(**(words or {})), timeout=PATIENCE, **how)

    def test_a_probe_without_a_credential_learns_that_both_daemons_serve(self):
        for address, service in ((self.controller, "spur.v1.Controller"), (self.agent, "spur.v1.Agent")):
            probe = health_pb2_grpc.HealthStub(self.channel(address))
            for name in ("", service):
                self.assertEqual(probe.Check(health_pb2.HealthCheckRequest(service=name), timeout=PATIENCE).status, health_pb2.HealthCheckResponse.SERVING)
            with self.assertRaises(grpc.RpcError) as refused:
                probe.Check(health_pb2.HealthCheckRequest(service="no.such"), timeout=PATIENCE)
            self.assertEqual(refused.exception.code(), grpc.StatusCode.NOT_FOUND)

    def test_a_watcher_hears_that_a_daemon_stops(self):
        with Cluster(nodes=0) as other:
            probe = health_pb2_grpc.HealthStub(self.channel(other.controllers[0].address))
            heard = probe.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
            self.assertEqual(next(heard).status, health_pb2.HealthCheckResponse.SERVING)
            other.controllers[0].stop()
            self.assertEqual(next(heard).status, health_pb2.HealthCheckResponse.NOT_SERVING)
            with self.assertRaises(grpc.RpcError) as ended:
                next(heard)
            self.assertEqual(ended.exception.code(), grpc.StatusCode.UNAVAILABLE)

    def test_reflection_lists_the_services_of_each_daemon_in_both_versions(self):
        common = ["grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"]
        for address, own in ((self.controller, ["spur.v1.Controller", "spur.v1.Metrics", "spur.v1.Peer", "spur.v1.Tokens"]),
                             (self.agent, ["spur.v1.Agent", "spur.v1.Metrics"])):
            for version in ("v1", "v1alpha"):
                ask = self.channel(address).stream_stream(f"/grpc.reflection.{version}.ServerReflection/ServerReflectionInfo",
                                                          request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
                                                          response_deserializer=reflection_pb2.ServerReflectionResponse.FromString)
                answer = next(ask(iter([reflection_pb2.ServerReflectionRequest(list_services="")]), timeout=PATIENCE))
                self.assertEqual([service.name for service in answer.list_services_response.service], common + own)

    def test_every_method_that_is_described_can_be_called_by_its_description(self):
        channel = self.channel(self.controller)
        self.assertEqual([node.name for node in self.call(channel, "ListNodes", metadata=self.metadata).nodes], ["n1"])
        with self.assertRaises(grpc.RpcError) as refused:
            self.call(channel, "ListNodes")
        self.assertEqual(refused.exception.code(), grpc.StatusCode.UNAUTHENTICATED)

    def test_a_compressed_script_is_submitted_and_comes_back(self):
        channel = self.channel(self.controller)
        script = "#!/bin/sh\n" + "# nothing of interest\n" * 20000
        spec = {"name": "long", "script": script, "work_dir": self.cluster.work, "std_out": "/dev/null", "hold": True}
        job = self.call(channel, "Submit", {"components": [spec]}, metadata=self.metadata, compression=grpc.Compression.Gzip).job_id
        self.assertEqual(self.call(channel, "GetScript", {"job_id": job}, metadata=self.metadata).script, script)
        with self.assertRaises(grpc.RpcError) as refused:
            self.call(channel, "GetScript", {"job_id": job}, metadata=self.metadata, compression=grpc.Compression.Deflate)
        self.assertEqual(refused.exception.code(), grpc.StatusCode.UNIMPLEMENTED)


class Packages(unittest.TestCase):
    @unittest.skipIf(os.environ.get(INSIDE), "they are here")
    def test_stock_clients_work_in_an_interpreter_that_has_them(self):
        with tempfile.TemporaryDirectory(prefix="spur-grpc-") as folder:
            python = os.path.join(folder, "bin", "python")
            for step in ([sys.executable, "-m", "venv", folder],
                         [python, "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout", "10", "grpcio", "grpcio-reflection", "grpcio-health-checking"]):
                made = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if made.returncode != 0:
                    self.skipTest(f"gRPC's Python packages could not be had: {' '.join(step[1:4])} said: {made.stdout.strip()[-300:]}")
            run = subprocess.run([python, os.path.abspath(__file__), "-v"], env={**os.environ, INSIDE: "1"})
            self.assertEqual(run.returncode, 0, "see above")


if __name__ == "__main__":
    unittest.main()
