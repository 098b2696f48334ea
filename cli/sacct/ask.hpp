// Asking spurdbd for runs of jobs, page by page.
#pragma once

#include "cli/common/session.hpp"
#include "cli/sacct/listing.hpp"

namespace spur::cli::sacct {

// From options to the question; names of users and groups are looked up. `cluster`: whose jobs without -M and -L.
Result<v1::ListHistoryRequest> request_for(const Options& options, const Window& window, const std::string& cluster);

Answer<Runs> ask(Session& session, v1::ListHistoryRequest request);

// The name of this cluster, by the configuration or by its controller.
Answer<std::string> find_cluster_name(Session& session);

}  // namespace spur::cli::sacct
