// From options to requests.
#include "cli/submit/request.hpp"

#include "core/slurm/rlimits.hpp"
#include "core/slurm/script.hpp"
#include "core/text/lexical.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

extern char** environ;  // NOLINT

namespace spur::cli::submit {
namespace {

std::string value_of(const std::vector<std::string>& environment, std::string_view name) {
    for (const auto& pair : environment)
        if (pair.size() > name.size() && pair[name.size()] == '=' && pair.starts_with(name))
            return pair.substr(name.size() + 1);
    return {};
}

void put(std::vector<std::string>& environment, std::string_view name, std::string_view value) {
    std::erase_if(environment, [&](const std::string& pair) {
        return pair.size() > name.size() && pair[name.size()] == '=' && pair.starts_with(name);
    });
    environment.push_back(fmt::format("{}={}", name, value));
}

bool has(const std::vector<std::string>& environment, std::string_view name) {
    return std::any_of(environment.begin(), environment.end(), [&](const std::string& pair) {
        return pair.size() > name.size() && pair[name.size()] == '=' && pair.starts_with(name);
    });
}

// At commas, but for those in '...' and "...": the quotes stay with their value.
std::vector<std::string_view> split_outside_quotes(std::string_view list) {
    std::vector<std::string_view> words;
    char quote = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (quote != 0) {
            if (list[i] == quote) quote = 0;
        } else if (list[i] == '\'' || list[i] == '"') {
            quote = list[i];
        } else if (list[i] == ',') {
            words.push_back(list.substr(begin, i - begin));
            begin = i + 1;
        }
    }
    words.push_back(list.substr(begin));
    return words;
}

Result<std::string> read_all(int fd, const std::string& what) {
    std::string text;
    char buffer[65536];
    for (;;) {
        const auto count = ::read(fd, buffer, sizeof buffer);
        if (count == 0) return text;
        if (count > 0)
            text.append(buffer, static_cast<std::size_t>(count));
        else if (errno != EINTR)
            return fail(ErrorCode::limit, "Could not read user environment file {}: {}", what, std::strerror(errno));
    }
}

// --export-file: NAME=value entries, each ended by a NUL, from a file or an open descriptor.
Result<std::vector<std::string>> variables_in(const std::string& file) {
    const auto number = find_unsigned(file);
    const int fd = number ? static_cast<int>(*number) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail(ErrorCode::limit, "Could not open user environment file {}", file);
    auto text = read_all(fd, file);
    if (!number) ::close(fd);
    if (!text) return std::unexpected(text.error());
    std::vector<std::string> variables;
    for (const auto entry : split(*text, '\0'))
        if (entry.find('=') != std::string_view::npos) variables.emplace_back(entry);
    return variables;
}

// #SBATCH lines by component, as words; each component begins with the program's name.
Result<std::vector<std::vector<std::string>>> script_words(std::string_view script, bool ignore_pbs) {
    std::vector<std::vector<std::string>> components{{"sbatch"}};
    SPUR_TRY(const auto directives, script_directives(script, ignore_pbs));
    for (const auto& directive : directives) {
        if (directive.starts_component()) {
            components.push_back({"sbatch"});
            continue;
        }
        SPUR_TRY(const auto words, sbatch_words(directive));
        components.back().insert(components.back().end(), words.begin(), words.end());
    }
    return components;
}

}  // namespace

namespace {

// srun: every component may have a command of its own; one without has that of the component after it.
SplitOutcome split_commands(const std::vector<std::string>& words) {
    SplitOutcome result;
    std::vector<std::vector<std::string>> pieces{{words.front()}};
    bool ended = false;  // `--` ends the options: what follows is the command even if it is a colon
    for (std::size_t i = 1; i < words.size(); ++i) {
        ended = ended || words[i] == "--";
        const bool cuts = words[i] == ":" && i + 1 < words.size() && !ended;
        if (cuts)
            pieces.push_back({words.front()});
        else
            pieces.back().push_back(words[i]);
    }
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        SubmitOptions scratch;
        auto outcome = apply_words(srun, pieces[i], Source::command_line, i == 0 ? result.first : scratch);
        if (outcome.end != ParseEnd::go_on) {
            result.outcome = std::move(outcome);
            return result;
        }
        const auto used = static_cast<std::ptrdiff_t>(pieces[i].size() - outcome.rest.size());
        result.line.components.emplace_back(pieces[i].begin(), pieces[i].begin() + used);
        result.line.commands.push_back(std::move(outcome.rest));
    }
    for (std::size_t i = pieces.size() - 1; i-- > 0;)
        if (result.line.commands[i].empty()) result.line.commands[i] = result.line.commands[i + 1];
    result.line.command = result.line.commands.front();
    return result;
}

}  // namespace

SplitOutcome split_command_line(Tool tool, const std::vector<std::string>& words) {
    if (tool == srun) return split_commands(words);
    SplitOutcome result;
    auto rest = words;
    for (bool first = true;; first = false) {
        SubmitOptions scratch;
        auto outcome = apply_words(tool, rest, Source::command_line, first ? result.first : scratch);
        if (outcome.end != ParseEnd::go_on) {
            result.outcome = std::move(outcome);
            return result;
        }
        if (!first && scratch.wrap) result.first.wrap = scratch.wrap;  // wherever it stands, it is the job's one script
        const auto used = rest.size() - outcome.rest.size();
        result.line.components.emplace_back(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(used));
        // `--` ends the options: what follows is the command even if it is a colon.
        const bool ended = used > 1 && rest[used - 1] == "--";
        if (outcome.rest.empty() || outcome.rest.front() != ":" || ended) {
            result.line.command = std::move(outcome.rest);
            return result;
        }
        rest = std::move(outcome.rest);
        rest.front() = words.front();
    }
}

ComponentsOutcome read_components(Tool tool, const CommandLine& line, std::string_view script, bool ignore_pbs) {
    ComponentsOutcome result;
    auto scripted = script_words(script, ignore_pbs);
    if (!scripted) {
        result.outcome = ParseOutcome::wrong(255, scripted.error().text);
        return result;
    }
    const auto count = std::max(scripted->size(), line.components.size());
    for (std::size_t i = 0; i < count; ++i) {
        SubmitOptions options;
        const auto apply = [&](const std::vector<std::string>& words, Source source, bool inherited = false) {
            auto outcome =
                inherited ? inherit_words(tool, words, source, options) : apply_words(tool, words, source, options);
            if (outcome.end == ParseEnd::go_on && source == Source::script && !outcome.rest.empty())
                outcome = ParseOutcome::wrong(255, "Invalid directive found in batch script: " + outcome.rest.front());
            result.outcome = std::move(outcome);
            return result.outcome.end == ParseEnd::go_on;
        };
        // Later components start from what the first one says, but for its size and place.
        if (!apply(scripted->front(), Source::script, i > 0)) return result;
        if (i > 0 && i < scripted->size() && !apply((*scripted)[i], Source::script)) return result;
        result.outcome = apply_environment(tool, options);
        if (result.outcome.end != ParseEnd::go_on) return result;
        // One set of options on the command line is for every component of the script.
        const bool for_first = i > 0 && line.components.size() > 1;
        if (!apply(line.components.front(), Source::command_line, for_first)) return result;
        if (i > 0 && i < line.components.size() && !apply(line.components[i], Source::command_line)) return result;
        if (const auto combined = combine(tool, options); !combined) {
            result.outcome = ParseOutcome::wrong(1, combined.error().text, true);
            return result;
        }
        result.components.push_back(std::move(options));
    }
    return result;
}

Submitter Submitter::here(const std::vector<std::string>& words) {
    Submitter self;
    char name[256] = "";
    ::gethostname(name, sizeof name - 1);
    self.host = name;
    if (const auto dot = self.host.find('.'); dot != std::string::npos) self.host.resize(dot);
    char* directory = ::getcwd(nullptr, 0);
    self.directory = directory ? directory : "/";
    std::free(directory);
    self.session = static_cast<std::uint32_t>(::getsid(0));
    const auto mask = ::umask(022);
    ::umask(mask);
    self.umask = mask;
    if (const char* text = std::getenv("SLURM_UMASK"))
        self.umask = static_cast<std::uint32_t>(std::strtoul(text, nullptr, 8)) & 0777;
    errno = 0;
    self.nice = ::getpriority(PRIO_PROCESS, 0);
    for (char** entry = environ; *entry; ++entry) self.environment.emplace_back(*entry);
    for (const auto& word : words) self.command_line += (self.command_line.empty() ? "" : " ") + word;
    return self;
}

Result<std::vector<std::string>> exported(const SubmitOptions& options, const std::vector<std::string>& all) {
    std::vector<std::string> result;
    if (!options.export_file.empty()) {
        SPUR_TRY(result, variables_in(options.export_file));
    }
    // A file is all there is, whatever --export says.
    const auto list = options.export_file.empty() ? options.export_list.value_or("ALL") : std::string("NONE");
    const auto words = split_outside_quotes(list);
    const bool everything = equal_nocase(words.front(), "ALL");
    for (const auto& pair : all)
        if (everything || pair.starts_with("SLURM_")) result.push_back(pair);
    for (const auto word : words) {
        if (word.empty() || equal_nocase(word, "ALL") || equal_nocase(word, "NONE") || equal_nocase(word, "NIL"))
            continue;
        const auto equals = word.find('=');
        if (equals != std::string_view::npos)
            put(result, word.substr(0, equals), word.substr(equals + 1));
        else if (has(all, word))
            put(result, word, value_of(all, word));
    }
    return result;
}

void add_limits(const SubmitOptions& options, v1::JobSpec& spec) {
    const std::string list = options.propagate.empty() ? "ALL" : options.propagate;
    const auto chosen = split(list, ',');
    for (const auto& limit : process_limits) {
        const bool wanted = std::any_of(chosen.begin(), chosen.end(), [&](auto word) {
            return equal_nocase(word, "ALL") || equal_nocase(word, limit.name);
        });
        struct rlimit value {};
        if (!wanted || ::getrlimit(static_cast<__rlimit_resource_t>(limit.resource), &value) != 0) continue;
        auto& entry = *spec.add_rlimits();
        entry.set_name(std::string{limit.name});
        entry.set_soft(value.rlim_cur);
        entry.set_hard(value.rlim_max);
    }
}

Result<void> complete(Tool tool, SubmitOptions& options, const Submitter& submitter) {
    auto& spec = options.spec;
    auto directory = options.chdir.empty() ? submitter.directory : options.chdir;
    if (directory.front() != '/') directory = submitter.directory + "/" + directory;
    spec.set_work_dir(directory);
    spec.set_alloc_node(submitter.host);
    spec.set_alloc_sid(submitter.session);
    spec.set_umask(submitter.umask);
    spec.set_submit_line(submitter.command_line);
    add_limits(options, spec);
    if (tool != sbatch) return {};

    SPUR_TRY(auto environment, exported(options, submitter.environment));
    put(environment, "SLURM_SUBMIT_DIR", submitter.directory);
    put(environment, "SLURM_SUBMIT_HOST", submitter.host);
    put(environment, "SLURM_PRIO_PROCESS", fmt::format("{}", submitter.nice));
    if (options.export_list && !equal_nocase(*options.export_list, "ALL")) {
        put(environment, "SLURM_EXPORT_ENV", *options.export_list);
        put(environment, "SLURM_GET_USER_ENV", "1");
    }
    if (options.login_environment) put(environment, "SLURM_GET_USER_ENV", "1");
    if (options.gpus_per_node.starts_with("gpu:"))
        put(environment, "SLURM_GPUS_PER_NODE", options.gpus_per_node.substr(4));
    for (auto& pair : environment) spec.add_environment(std::move(pair));
    return {};
}

}  // namespace spur::cli::submit
