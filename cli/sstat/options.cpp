// The options, one row each.
#include "cli/sstat/options.hpp"

#include "core/model/array_spec.hpp"
#include "core/text/lexical.hpp"

#include <utility>

namespace spur::cli::sstat {
namespace {

using Set = Result<void>;
using O = Options;

template <auto Member>
Set yes(O& options, const char*) {
    options.*Member = true;
    return {};
}

Set format(O& options, const char* value) {
    if (!options.format.empty()) options.format += ',';
    options.format += value;
    return {};
}

constexpr OptionRow<O> option_rows[] = {
    {"allsteps", 'a', Argument::none, nullptr, "all steps that run, where none is named", yes<&O::all_steps>},
    {"helpformat", 'e', Argument::none, nullptr, "list the fields of --format", yes<&O::help_format>},
    {"help", 'h', Argument::none, nullptr, nullptr, yes<&O::help>},
    {"pidformat", 'i', Argument::none, nullptr, "the processes of each step, a line a node (JobId,Nodes,Pids)",
     yes<&O::pids>},
    {"jobs", 'j', Argument::required, "job[.step][,...]",
     "these steps; of a job without a step the first with a number; `batch` is the script's",
     [](O& o, const char* value) -> Set { return o.jobs.emplace_back(value), Set{}; }},
    {"noconvert", 0, Argument::none, nullptr, "show sizes in bytes",
     [](O& o, const char*) -> Set { return o.convert = false, Set{}; }},
    {"noheader", 'n', Argument::none, nullptr, "no header",
     [](O& o, const char*) -> Set { return o.header = false, Set{}; }},
    {"format", 'o', Argument::required, "field[%width][,...]", "which fields, and how wide; -10 is to the left", format},
    {"fields", 0, Argument::required, nullptr, nullptr, format},
    {"parsable", 'p', Argument::none, nullptr, "fields with | behind each",
     [](O& o, const char*) -> Set { return o.style = TableStyle::bars, Set{}; }},
    {"parsable2", 'P', Argument::none, nullptr, "fields with | between them",
     [](O& o, const char*) -> Set { return o.style = TableStyle::bars_between, Set{}; }},
    {"verbose", 'v', Argument::none, nullptr, "say which nodes are asked",
     [](O& o, const char*) -> Set { return ++o.verbose, Set{}; }},
};

}  // namespace

std::span<const OptionRow<Options>> option_table() { return option_rows; }

Result<std::vector<Wanted>> wanted_steps(const std::vector<std::string>& words) {
    std::vector<Wanted> wanted;
    for (const auto& word : words)
        for (const auto typed : split(word, ',')) {
            const auto text = trim(typed);
            if (text.empty()) continue;
            auto ref = JobRef::parse(text);
            if (const auto dot = text.find('.'); !ref && dot != std::string_view::npos && JobRef::parse(text.substr(0, dot)))
                return fail(ErrorCode::invalid, "Bad step specified: {}", text.substr(0, dot));
            if (!ref) return fail(ErrorCode::invalid, "Bad job/step specified: {}", text);
            const auto step = std::exchange(ref->step, std::nullopt);
            wanted.push_back({ref->str(), step});
        }
    if (wanted.empty()) return fail(ErrorCode::not_found, "You didn't give me any jobs to stat.");
    return wanted;
}

}  // namespace spur::cli::sstat
