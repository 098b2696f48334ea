"""Reservations through scontrol, and how jobs and nodes meet them."""
import unittest

from shared_case import SharedCluster
from spur_cluster import eventually


class Reservations(SharedCluster):
    def tearDown(self):
        super().tearDown()
        for line in self.cluster.ok("scontrol", "-o", "show", "reservation").splitlines():
            if line.startswith("ReservationName="):
                self.cluster.ok("scontrol", "delete", line.split()[0].replace("ReservationName", "reservation"))

    def create(self, *words, name=""):
        out = self.cluster.ok("scontrol", "create", "reservation", *([f"reservationname={name}"] if name else []), *words)
        self.assertRegex(out, "^Reservation created: .+\n$")
        return out.split()[-1]

    def test_names_times_nodes_and_flags_are_shown_as_slurm_shows_them(self):
        self.assertEqual(self.create("user=root", "starttime=now+1hour", "duration=60", "nodes=n1"), "root_1")
        self.assertEqual(self.create("accounts=physics", "starttime=now+3hours", "endtime=now+4hours", "nodes=ALL", "flags=maint,ignore_jobs", name="whole"), "whole")
        self.create("users=root", "starttime=now+10days", "duration=infinite", "nodecnt=2", "flags=weekly", name="later")
        whole, later = self.cluster.show("reservation", "whole"), self.cluster.show("reservation", "later")
        self.assertEqual((whole["Nodes"], whole["NodeCnt"], whole["Flags"], whole["Accounts"], whole["State"], whole["Duration"]),
                         ("n[1-4]", "4", "MAINT,IGNORE_JOBS,SPEC_NODES,ALL_NODES", "physics", "INACTIVE", "01:00:00"))
        self.assertEqual((later["NodeCnt"], later["PartitionName"], later["Flags"], later["Duration"]), ("2", "main", "WEEKLY", "365-00:00:00"))

    def test_incomplete_and_impossible_ones_are_refused_in_slurms_words(self):
        error = "scontrol: error: {}.  No reservation created."
        for words, text in ((["users=root", "nodes=n1", "duration=5"], error.format("A start time must be given")),
                            (["users=root", "nodes=n1", "starttime=now"], error.format("An end time or duration must be given")),
                            (["nodes=n1", "starttime=now", "duration=5"], error.format("Either Users/Groups and/or Accounts must be specified")),
                            (["users=root", "starttime=now", "duration=5", "nodecnt=1", "flags=bogus"], error.format("Error parsing flags bogus")),
                            (["users=nosuchuser", "starttime=now", "duration=5", "nodecnt=1"], "Error creating the reservation: Invalid user id"),
                            (["users=root", "starttime=now", "duration=5", "nodes=n9"], "Error creating the reservation: Invalid node name specified"),
                            (["users=root", "starttime=now", "duration=5", "nodecnt=9"], "Error creating the reservation: Requested nodes are busy")):
            self.assertEqual(self.refused("scontrol", "create", "reservation", *words), text)
        self.create("users=root", "starttime=now", "duration=60", "nodes=n1")
        self.assertEqual(self.refused("scontrol", "create", "reservation", "users=root", "starttime=now", "duration=30", "nodes=n1"),
                         "Error creating the reservation: Requested reservation overlaps with another reservation")
        self.create("users=root", "starttime=now", "duration=30", "nodes=n1", "flags=overlap,daily,flex")

    def test_they_change_by_value_and_by_difference(self):
        self.create("users=root", "starttime=now+1hour", "duration=2:00:00", "nodes=n[1-2]", name="change")
        update = lambda *words: self.assertEqual(self.cluster.ok("scontrol", "update", "reservationname=change", *words), "Reservation updated.\n")
        show = lambda: self.cluster.show("reservation", "change")
        update("users+=daemon")
        self.assertEqual(show()["Users"], "root,daemon")
        update("users-=root", "flags+=maint")
        self.assertEqual((show()["Users"], show()["Flags"]), ("daemon", "MAINT,SPEC_NODES"))
        update("flags-=maint", "starttime=now+2hours", "nodes=n3")
        self.assertEqual((show()["Flags"], show()["Duration"], show()["Nodes"]), ("SPEC_NODES", "02:00:00", "n3"))
        update("duration=30")
        self.assertEqual(show()["Duration"], "00:30:00")
        self.assertIn("Requested reservation is invalid", self.refused("scontrol", "update", "reservationname=nope", "duration=5"))
        self.assertIn("Requested reservation is invalid", self.refused("scontrol", "delete", "reservation=nope"))

    def test_nodes_show_that_they_are_kept(self):
        self.create("users=root", "starttime=now", "duration=60", "nodes=n1")
        self.create("users=root", "starttime=now", "duration=60", "nodes=n2", "flags=maint")
        eventually(lambda: self.cluster.ok("sinfo", "-hN", "-o", "%N %T").splitlines() == ["n1 reserved", "n2 maint", "n3 idle", "n4 idle"], "sinfo shows them")
        self.assertIn("ACTIVE", self.cluster.ok("sinfo", "-T"))

    def test_only_those_it_is_for_may_use_it_and_only_while_it_lasts(self):
        name = self.create("users=root", "starttime=now", "duration=60", "nodes=n2")
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
        self.create("users=-root", "accounts=physics", "starttime=now", "duration=60", "nodes=n1", name="others")
        self.assertEqual(self.cluster.show("reservation", "others")["Users"], "-root")
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
        name = self.create("users=root", "starttime=now+1hour", "duration=60", "nodes=n1")
        job = self.cluster.submit("--reservation=" + name, "-t", "5", "--wrap", "true")
        self.becomes(job, "%R", "(Reservation)")
        self.cluster.ok("scontrol", "update", "reservation=" + name, "starttime=now")
        self.ends(job)


if __name__ == "__main__":
    unittest.main()
