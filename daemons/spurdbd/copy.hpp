// What spurdbd does once and then ends: taking over another database, and reading what Slurm's commands wrote.
#pragma once

#include "daemons/spurdbd/server.hpp"

namespace spur::dbd {

// [waits for long] Every row of `from` into `to`; the answer: how many. Done twice, nothing is there twice.
Result<std::uint64_t> copy_database(Database& from, Database& to);

// [waits for long] One file; the answer: rows. Usage is rolled up with it.
Result<std::uint64_t> import_file(Server& server, const std::string& path, const std::string& cluster);

}  // namespace spur::dbd
