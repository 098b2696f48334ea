// The names that records go by elsewhere are those of Slurm 22.05: sacct's fields, and the members of its headers'
// structs.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "daemons/common/records/accounts.hpp"
#include "daemons/common/records/job.hpp"
#include "daemons/common/records/node.hpp"
#include "daemons/common/records/partition.hpp"
#include "daemons/common/records/priority.hpp"
#include "daemons/common/records/reservation.hpp"
#include "daemons/common/records/step.hpp"

namespace spur::records {
namespace {

// What `man sacct` of 22.05 lists under --helpformat.
constexpr const char* sacct_fields =
    "Account AdminComment AllocCPUS AllocNodes AllocTRES AssocID AveCPU AveCPUFreq AveDiskRead AveDiskWrite AvePages "
    "AveRSS AveVMSize BlockID Cluster Comment Constraints ConsumedEnergy ConsumedEnergyRaw Container CPUTime "
    "CPUTimeRAW DBIndex DerivedExitCode Elapsed ElapsedRaw Eligible End ExitCode Flags GID Group JobID JobIDRaw "
    "JobName Layout MaxDiskRead MaxDiskReadNode MaxDiskReadTask MaxDiskWrite MaxDiskWriteNode MaxDiskWriteTask "
    "MaxPages MaxPagesNode MaxPagesTask MaxRSS MaxRSSNode MaxRSSTask MaxVMSize MaxVMSizeNode MaxVMSizeTask McsLabel "
    "MinCPU MinCPUNode MinCPUTask NCPUS NNodes NodeList NTasks Partition Priority QOS QOSRAW Reason ReqCPUFreq "
    "ReqCPUFreqGov ReqCPUFreqMax ReqCPUFreqMin ReqCPUS ReqMem ReqNodes ReqTRES Reservation ReservationId Reserved "
    "ResvCPU ResvCPURAW Start State Submit SubmitLine Suspended SystemComment SystemCPU Timelimit TimelimitRaw "
    "TotalCPU TRESUsageInAve TRESUsageInMax TRESUsageInMaxNode TRESUsageInMaxTask TRESUsageInMin TRESUsageInMinNode "
    "TRESUsageInMinTask TRESUsageInTot TRESUsageOutAve TRESUsageOutMax TRESUsageOutMaxNode TRESUsageOutMaxTask "
    "TRESUsageOutMin TRESUsageOutMinNode TRESUsageOutMinTask TRESUsageOutTot UID User UserCPU WCKey WCKeyID WorkDir ";

std::set<std::string> words(const char* text) {
    std::istringstream in{text};
    return {std::istream_iterator<std::string>{in}, {}};
}

template <class Rows>
void expect_known(const std::set<std::string>& known, const Rows& rows) {
    for (const auto& field : rows) EXPECT_TRUE(!field.sacct || known.contains(field.sacct)) << field.sacct;
}
TEST(T55SlurmNames, SacctKnowsEveryFieldThatARecordSaysItHas) {
    const auto known = words(sacct_fields);
    EXPECT_TRUE(known.contains("JobID"));
    expect_known(known, job_fields());
    expect_known(known, step_fields());
}

// A line of C for each row that names a member of `type`.
template <class Rows>
void use_members(std::ostream& out, const char* type, const Rows& rows) {
    for (const auto& field : rows)
        if (field.member) out << "(void)sizeof(((" << type << "*)0)->" << field.member << ");\n";
}

TEST(T55SlurmNames, EveryMemberIsOneOfSlurmsHeaders) {
    if (!std::filesystem::exists("/usr/include/slurm/slurmdb.h"))
        GTEST_SKIP() << "no slurm/slurmdb.h here; libslurm-dev has it";
    std::ostringstream out;
    out << "#include <slurm/slurm.h>\n#include <slurm/slurmdb.h>\nvoid members(void) {\n";
    use_members(out, "slurm_job_info_t", job_fields());
    use_members(out, "job_step_info_t", step_fields());
    use_members(out, "node_info_t", node_fields());
    use_members(out, "partition_info_t", partition_fields());
    use_members(out, "reserve_info_t", reservation_fields());
    use_members(out, "slurm_license_info_t", license_fields());
    use_members(out, "slurmdb_assoc_rec_t", association_fields());
    use_members(out, "slurmdb_account_rec_t", account_fields());
    use_members(out, "slurmdb_user_rec_t", user_fields());
    use_members(out, "slurmdb_qos_rec_t", qos_fields());
    use_members(out, "slurmdb_cluster_rec_t", cluster_fields());
    use_members(out, "slurmdb_tres_rec_t", tres_fields());
    use_members(out, "priority_factors_object_t", priority_fields());
    out << "}\n";
    std::FILE* compiler = ::popen("cc -fsyntax-only -w -x c -", "w");
    ASSERT_NE(compiler, nullptr);
    std::fputs(out.str().c_str(), compiler);
    EXPECT_EQ(::pclose(compiler), 0) << "see the compiler's words above";
}

}  // namespace
}  // namespace spur::records
