// Reading a trace file, and what holds for traces of every format.
#include "cli/sim/trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "core/text/lexical.hpp"

namespace spur::cli::sim {

Result<Trace> load_trace(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return fail(ErrorCode::not_found, "trace {} cannot be opened: {}", path, std::strerror(errno));
    std::ostringstream text;
    text << file.rdbuf();
    if (file.bad() || (text.fail() && file.peek() != std::ifstream::traits_type::eof()))
        return fail(ErrorCode::unavailable, "trace {} cannot be read: {}", path, std::strerror(errno));
    SPUR_TRY(auto trace, path.ends_with(".swf") ? parse_swf(text.view(), path) : parse_trace_lines(text.view(), path));
    if (trace.jobs.empty()) return fail(ErrorCode::invalid, "trace {} holds no job that could be run", path);
    return trace;
}

Result<void> complete(Trace& trace) {
    std::ranges::stable_sort(trace.jobs, {}, &TraceJob::submit_s);
    std::unordered_map<std::string_view, std::size_t> known;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i)
        if (const auto [other, is_new] = known.try_emplace(trace.jobs[i].id, i); !is_new)
            return fail(ErrorCode::invalid, "{}: two jobs are called {}", trace.source, spur::quoted(trace.jobs[i].id));
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
        auto& job = trace.jobs[i];
        if (job.follows.empty()) continue;
        const auto found = known.find(job.follows);
        // One that was left out, or that comes later, holds nobody up.
        if (found == known.end() || found->second >= i) {
            job.follows.clear();
            job.think_s = 0;
        }
    }
    return {};
}

}  // namespace spur::cli::sim
