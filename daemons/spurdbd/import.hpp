// History of an existing Slurm, from what its own commands print:
//   sacct -a -D -P -S 1970-01-01 -o ALL         jobs and steps
//   sacctmgr dump CLUSTER file=F                accounts, users and associations
//   sacctmgr -P show event format=cluster,nodename,start,end,state,reason,user,tres all_time all_clusters
//   sacctmgr -P show reservation start=1970-01-01 format=cluster,name,assoc,flags,tres,nodenames,start,end
//   sacctmgr -P show association format=cluster,account,user,partition,parentname,id       instead of the dump:
//   reservations refer to these numbers
// Which of them a file is shows in its first line.
#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "core/base/ids.hpp"
#include "core/base/result.hpp"
#include "spur/v1/accounting.pb.h"

namespace spur::dbd {

struct Imported {
    std::map<std::string, std::vector<v1::HistoryRow>> rows;  // by cluster
    std::map<std::string, UnixSeconds> since;                 // the earliest moment that they are about
    std::size_t count() const;
};

// `cluster`: of lines that do not name one. Times are read in this process's time zone, as Slurm's commands wrote them
// in theirs.
Result<Imported> read_import(std::string_view content, const std::string& cluster);

}  // namespace spur::dbd
