"""Reservations through scontrol, and how jobs and nodes meet them."""
import os
import pwd
import unittest

from shared_case import SharedCluster
from spur_cluster import eventually

ME = pwd.getpwuid(os.geteuid()).pw_name  # who runs the cluster and its jobs


class ReservationCase(SharedCluster):
    def tearDown(self):
        super().tearDown()
        for line in self.cluster.ok("scontrol", "-o", "show", "reservation").splitlines():
            if line.startswith("ReservationName="):
                self.cluster.ok("scontrol", "delete", line.split()[0].replace("ReservationName", "reservation"))

    def create(self, *words, name=""):
        out = self.cluster.ok("scontrol", "create", "reservation", *([f"reservationname={name}"] if name else []), *words)
        self.assertRegex(out, "^Reservation created: .+\n$")
        return out.split()[-1]


class Reservations(ReservationCase):
    def test_names_times_nodes_and_flags_are_shown_as_slurm_shows_them(self):
        self.assertEqual(self.create(f"user={ME}", "starttime=now+1hour", "duration=60", "nodes=n1"), f"{ME}_1")
        self.assertEqual(self.create("accounts=physics", "starttime=now+3hours", "endtime=now+4hours", "nodes=ALL", "flags=maint,ignore_jobs", name="whole"), "whole")
        self.create(f"users={ME}", "starttime=now+10days", "duration=infinite", "nodecnt=2", "flags=weekly", name="later")
        whole, later = self.cluster.show("reservation", "whole"), self.cluster.show("reservation", "later")
        self.assertEqual((whole["Nodes"], whole["NodeCnt"], whole["Flags"], whole["Accounts"], whole["State"], whole["Duration"]),
                         ("n[1-4]", "4", "MAINT,IGNORE_JOBS,SPEC_NODES,ALL_NODES", "physics", "INACTIVE", "01:00:00"))
        self.assertEqual((later["NodeCnt"], later["PartitionName"], later["Flags"], later["Duration"]), ("2", "main", "WEEKLY", "365-00:00:00"))

    def test_incomplete_and_impossible_ones_are_refused_in_slurms_words(self):
        error = "scontrol: error: {}.  No reservation created."
        for words, text in (([f"users={ME}", "nodes=n1", "duration=5"], error.format("A start time must be given")),
                            ([f"users={ME}", "nodes=n1", "starttime=now"], error.format("An end time or duration must be given")),
                            (["nodes=n1", "starttime=now", "duration=5"], error.format("Either Users/Groups and/or Accounts must be specified")),
                            ([f"users={ME}", "starttime=now", "duration=5", "nodecnt=1", "flags=bogus"], error.format("Error parsing flags bogus")),
                            (["users=nosuchuser", "starttime=now", "duration=5", "nodecnt=1"], "Error creating the reservation: Invalid user id"),
                            ([f"users={ME}", "starttime=now", "duration=5", "nodes=n9"], "Error creating the reservation: Invalid node name specified"),
                            ([f"users={ME}", "starttime=now", "duration=5", "nodecnt=9"], "Error creating the reservation: Requested nodes are busy")):
            self.assertEqual(self.refused("scontrol", "create", "reservation", *words), text)
        self.create(f"users={ME}", "starttime=now", "duration=60", "nodes=n1")
        self.assertEqual(self.refused("scontrol", "create", "reservation", f"users={ME}", "starttime=now", "duration=30", "nodes=n1"),
                         "Error creating the reservation: Requested reservation overlaps with another reservation")
        self.create(f"users={ME}", "starttime=now", "duration=30", "nodes=n1", "flags=overlap,daily,flex")

    def test_they_change_by_value_and_by_difference(self):
        self.create(f"users={ME}", "starttime=now+1hour", "duration=2:00:00", "nodes=n[1-2]", name="change")
        update = lambda *words: self.assertEqual(self.cluster.ok("scontrol", "update", "reservationname=change", *words), "Reservation updated.\n")
        show = lambda: self.cluster.show("reservation", "change")
        update("users+=daemon")
        self.assertEqual(show()["Users"], f"{ME},daemon")
        update(f"users-={ME}", "flags+=maint")
        self.assertEqual((show()["Users"], show()["Flags"]), ("daemon", "MAINT,SPEC_NODES"))
        update("flags-=maint", "starttime=now+2hours", "nodes=n3")
        self.assertEqual((show()["Flags"], show()["Duration"], show()["Nodes"]), ("SPEC_NODES", "02:00:00", "n3"))
        update("duration=30")
        self.assertEqual(show()["Duration"], "00:30:00")
        self.assertIn("Requested reservation is invalid", self.refused("scontrol", "update", "reservationname=nope", "duration=5"))
        self.assertIn("Requested reservation is invalid", self.refused("scontrol", "delete", "reservation=nope"))

    def test_nodes_show_that_they_are_kept(self):
        self.create(f"users={ME}", "starttime=now", "duration=60", "nodes=n1")
        self.create(f"users={ME}", "starttime=now", "duration=60", "nodes=n2", "flags=maint")
        eventually(lambda: self.cluster.ok("sinfo", "-hN", "-o", "%N %T").splitlines() == ["n1 reserved", "n2 maint", "n3 idle", "n4 idle"], "sinfo shows them")
        self.assertIn("ACTIVE", self.cluster.ok("sinfo", "-T"))

    def test_only_those_it_is_for_may_use_it_and_only_while_it_lasts(self):
        name = self.create(f"users={ME}", "starttime=now", "duration=60", "nodes=n2")
        inside, named = self.busy("--reservation=" + name, "-t", "5"), self.cluster.submit("-w", "n2", "-t", "5", "--wrap", "true")
        self.assertEqual(self.field(inside, "%N|%v"), f"n2|{name}")
        self.becomes(named, "%R", "(ReqNodeNotAvail, May be reserved for other job)")
        self.assertIn("Requested reservation is invalid", self.refused("sbatch", "--reservation=nope", "--wrap", "true"))
        self.assertIn("Requested reservation is in use", self.refused("scontrol", "delete", "reservation=" + name))
        self.cluster.ok("scancel", inside)
        eventually(lambda: self.field(inside, "%t") == "CA", "it is gone")
        self.cluster.ok("scontrol", "delete", "reservation=" + name)
        self.ends(named)

    def test_who_is_named_with_a_minus_is_kept_out(self):
        self.create(f"users=-{ME}", "accounts=physics", "starttime=now", "duration=60", "nodes=n1", name="others")
        self.assertEqual(self.cluster.show("reservation", "others")["Users"], f"-{ME}")
        job = self.cluster.submit("--hold", "--reservation=others", "-A", "physics", "--wrap", "true")
        self.cluster.ok("scancel", job)

    def test_a_job_that_would_run_into_one_waits_and_a_short_one_does_not(self):
        self.create("users=daemon", "starttime=now+10minutes", "duration=60", "nodes=ALL")
        long, short = self.cluster.submit("-t", "60", "--wrap", "true"), self.cluster.submit("-t", "5", "--wrap", "true")
        self.becomes(long, "%R", "(ReqNodeNotAvail, May be reserved for other job)")
        self.cluster.ok("scontrol", "update", f"jobid={long}", "timelimit=5")
        self.ends(long)
        self.ends(short)

    def test_a_job_waits_for_a_reservation_that_has_not_begun(self):
        name = self.create(f"users={ME}", "starttime=now+1hour", "duration=60", "nodes=n1")
        job = self.cluster.submit("--reservation=" + name, "-t", "5", "--wrap", "true")
        self.becomes(job, "%R", "(Reservation)")
        self.cluster.ok("scontrol", "update", "reservation=" + name, "starttime=now")
        self.ends(job)

    def test_groups_features_and_flags_are_kept_and_shown(self):
        self.create("groups=root", "starttime=now+1hour", "duration=10", "nodecnt=1", "flags=purge_comp=00:00:05", name="g")
        shown = self.cluster.show("reservation", "g")
        self.assertEqual((shown["Groups"], shown["Users"], shown["Flags"], shown["CoreCnt"], shown["TRES"]), ("root", "(null)", "PURGE_COMP=00:00:05", "2", "cpu=2"))
        self.assertIn("Reservations can't have users and groups specified, only one or the other", self.refused("scontrol", "update", "reservationname=g", f"users={ME}"))
        self.cluster.ok("scontrol", "update", "reservationname=g", "groups+=daemon")
        self.assertEqual(self.cluster.show("reservation", "g")["Groups"], "root,daemon")
        self.cluster.ok("scontrol", "update", "reservationname=g", "duration+=5")
        self.assertEqual(self.cluster.show("reservation", "g")["Duration"], "00:15:00")
        for words, text in ((["nodes+=n3"], "The +=/-= notation is not supported when updating nodes"),
                            (["groups="], "Reservation request lacks users, groups or accounts")):
            self.assertIn(text, self.refused("scontrol", "update", "reservationname=g", *words))
        for words, text in ((["nodecnt=1", "features=nosuch"], "Invalid feature specification"), (["nodes=n4", "flags=replace"], "Invalid node name specified"),
                            (["nodes=n4", "groups=nosuchgroup"], "Invalid group id")):
            self.assertIn(text, self.refused("scontrol", "create", "reservation", *([f"users={ME}"] if "groups" not in words[-1] else []), "starttime=now+1hour", "duration=10", *words))
        self.assertIn("Invalid time specified", self.refused("scontrol", "create", "reservation", f"users={ME}", "starttime=now-1hour", "duration=10", "nodecnt=1"))

    def test_one_that_has_begun_keeps_its_start_and_goes_when_nobody_uses_it(self):
        self.create(f"users={ME}", "starttime=now", "duration=60", "nodecnt=1", "flags=purge_comp=00:00:01", name="brief")
        self.assertIn("Reservation already started", self.refused("scontrol", "update", "reservationname=brief", "starttime=now+1hour"))
        job = self.cluster.submit("--reservation=brief", "-t", "5", "--wrap", "sleep 1")
        self.ends(job)
        eventually(lambda: "brief" not in self.cluster.ok("scontrol", "show", "reservation"), "it is gone")

    def test_a_job_may_outlast_its_reservation_and_ends_with_it(self):
        name = self.create(f"users={ME}", "starttime=now", "duration=60", "nodes=n1")
        job = self.busy("--reservation=" + name, "-t", "600")
        self.cluster.ok("scontrol", "update", "reservation=" + name, "endtime=now+2")
        self.ends(job, "TIMEOUT")

    def test_a_flexible_one_lets_jobs_begin_before_it(self):
        name = self.create(f"users={ME}", "starttime=now+1hour", "duration=60", "nodes=ALL", "flags=flex")
        self.busy("--reservation=" + name, "-t", "600", "-w", "n1")

    def test_nodes_in_use_are_replaced(self):
        name = self.create(f"users={ME}", "starttime=now", "duration=60", "nodecnt=1", "flags=replace")
        first = self.cluster.show("reservation", name)["Nodes"]
        job = self.busy("--reservation=" + name, "-t", "5")
        self.assertEqual(self.field(job, "%N"), first)
        eventually(lambda: self.cluster.show("reservation", name)["Nodes"] != first, "another node is reserved")


class Parts(ReservationCase):
    """Reservations of cores and of licences, with nodes that are shared."""
    nodes, cpus, policies = 2, 4, {}
    settings = {"": 'licenses = { fluent = 10 }\n'}

    def test_cores_that_are_not_reserved_are_for_everybody(self):
        self.create("users=daemon", "starttime=now", "duration=60", "nodes=n1", "corecnt=2", name="core")
        shown = self.cluster.ok("scontrol", "-o", "show", "reservation", "core")
        self.assertIn("CoreCnt=2", shown)
        self.assertIn("NodeName=n1 CoreIDs=0-1", shown)
        self.assertIn("Core-based reservation can not be updated", self.refused("scontrol", "update", "reservationname=core", "corecnt=3"))
        fits = self.busy("-w", "n1", "-n2", "--mem=10", "-t", "5")
        wide = self.cluster.submit("-w", "n1", "-n3", "--mem=10", "-t", "5", "--wrap", "true")
        self.assertIn("CPU_IDs=2-3", self.cluster.ok("scontrol", "-d", "show", "job", fits))
        self.becomes(wide, "%r", "Resources")
        self.cluster.ok("scontrol", "delete", "reservation=core")
        self.cluster.ok("scancel", fits)
        self.ends(wide)

    def test_jobs_of_a_reservation_of_cores_stay_on_them(self):
        self.create(f"users={ME}", "starttime=now", "duration=60", "corecnt=6", name="six")
        self.assertEqual((self.cluster.show("reservation", "six")["Nodes"], self.cluster.show("reservation", "six")["CoreCnt"]), ("n[1-2]", "6"))
        self.busy("--reservation=six", "-n6", "--mem=10", "-t", "5")
        more = self.cluster.submit("--reservation=six", "-n1", "--mem=10", "-t", "5", "--wrap", "true")
        self.becomes(more, "%r", "Resources", "Reservation")

    def test_licences_are_kept_for_those_it_is_for(self):
        self.create(f"users={ME}", "starttime=now", "duration=60", "flags=any_nodes", "licenses=fluent:4", name="any")
        self.assertEqual(self.cluster.ok("scontrol", "show", "licenses"), "LicenseName=fluent\n    Total=10 Used=0 Free=10 Reserved=4 Remote=no\n")
        outside = self.cluster.submit("-L", "fluent:7", "-t", "5", "--wrap", "true")
        self.becomes(outside, "%r", "Licenses")
        self.ends(self.cluster.submit("-L", "fluent:7", "--reservation=any", "-t", "5", "--wrap", "true"))
        self.assertIn("Invalid license specification", self.refused("scontrol", "create", "reservation", f"users={ME}", "starttime=now", "duration=5", "nodes=n1", "licenses=fluent:40"))
        self.assertIn("Invalid node name specified", self.refused("scontrol", "create", "reservation", f"users={ME}", "starttime=now", "duration=5", "licenses=fluent:4"))
        self.cluster.ok("scontrol", "delete", "reservation=any")
        self.ends(outside)


if __name__ == "__main__":
    unittest.main()
