// spur - one binary for all commands: by the name it is called (sbatch, squeue, ...) or by its first word (spur queue).
#include "cli/common/output.hpp"
#include "cli/verbs.hpp"
#include "core/text/suggest.hpp"
#include "core/version.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace spur::cli {
namespace {

// A closed stdin, stdout or stderr: else the next thing we open would be taken for it.
void open_standard_files() {
    int fd = 0;
    while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDWR);
    if (fd >= 0) ::close(fd);
}

std::string basename_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

std::string help() {
    std::string text =
        "Usage: spur [--controller HOST[:PORT][,...]] COMMAND [ARGUMENTS]\n"
        "       spur --help | --version\n\n"
        "Commands (each has its own --help):\n";
    for (const auto& verb : verbs()) {
        if (verb.summary.empty()) continue;
        const bool is_alias = !verb.slurm_name.empty() && verb.slurm_name != verb.name;
        text += fmt::format("  {:<10}{}{}\n", verb.name, verb.summary,
                            is_alias ? fmt::format(" (as {})", verb.slurm_name) : std::string());
    }
    text +=
        "\nSlurm's names work too, as `spur squeue` and as links to this program: sbatch, srun, salloc, squeue,\n"
        "scancel, sinfo, scontrol, sprio, sshare, sacct, sacctmgr, sstat, sreport.\n\n"
        "Which cluster: --controller, SPUR_CONTROLLER_ADDR, the file SPUR_CONF names, the cluster `spur up`\n"
        "started, /etc/spur/spur.conf; the first that is there.\n";
    return text;
}

// Commands of Slurm that are not built, and what they wait for.
std::string_view find_missing(std::string_view name) {
    struct Missing {
        std::string_view name, what;
    };
    static constexpr Missing missing[] = {
        {"sdiag", "scheduler statistics"},  {"sattach", "attaching to steps"}, {"sbcast", "copying files to nodes"},
        {"sgather", "fetching files"},      {"scrontab", "recurring jobs"},    {"strigger", "event triggers"},
        {"sview", "a graphical interface"},
    };
    for (const auto& entry : missing)
        if (entry.name == name) return entry.what;
    return {};
}

int unknown_command(std::string_view word) {
    if (const auto what = find_missing(word); !what.empty()) {
        fmt::print(stderr, "{}: error: {}: not built in this release of Spur\n", word, what);
        return 1;
    }
    std::vector<std::string> names;
    for (const auto& verb : verbs()) names.emplace_back(verb.name);
    fmt::print(stderr, "spur: error: there is no command \"{}\"{}; `spur --help` lists them\n", word,
               suggestion(word, names));
    return 2;
}

int run_verb(const Verb& verb, std::vector<std::string> words, std::string controller) {
    words.front() = verb.slurm_name.empty() ? "spur " + std::string(verb.name) : verb.slurm_name;
    Invocation self(std::move(words));
    self.controller = std::move(controller);
    return verb.run(self);
}

// `spur [--controller ADDRESS] verb ...`
int run_spur(std::vector<std::string> words) {
    std::string controller;
    std::size_t at = 1;
    for (; at < words.size() && words[at].starts_with('-'); ++at) {
        const auto& word = words[at];
        if (word == "--help" || word == "-h") return print_out(help()), 0;
        if (word == "--version" || word == "-V") return print_out(fmt::format("spur {}\n", program_version)), 0;
        if (word.starts_with("--controller=")) {
            controller = word.substr(std::string_view("--controller=").size());
        } else if (word == "--controller" && at + 1 < words.size()) {
            controller = words[++at];
        } else {
            fmt::print(stderr, "spur: error: unknown option \"{}\"; `spur --help` shows what there is\n", word);
            return 2;
        }
    }
    if (at == words.size()) return print_out(help()), words.size() > 1 ? 2 : 0;
    if (words[at] == "help") return print_out(help()), 0;
    words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(at));
    const auto* verb = find_verb(words.front());
    if (verb == nullptr) return unknown_command(words.front());
    return run_verb(*verb, std::move(words), std::move(controller));
}

}  // namespace
}  // namespace spur::cli

int main(int argc, char** argv) try {
    spur::cli::open_standard_files();
    std::vector<std::string> words(argv, argv + argc);
    if (words.empty()) return 2;
    // Called by a command's own name: a link to this program.
    const auto name = spur::cli::basename_of(words.front());
    if (const auto* verb = spur::cli::find_verb(name); verb && verb->name == verb->slurm_name)
        return spur::cli::run_verb(*verb, std::move(words), {});
    if (!spur::cli::find_missing(name).empty()) return spur::cli::unknown_command(name);
    return spur::cli::run_spur(std::move(words));
} catch (const std::exception& error) {
    std::fprintf(stderr, "spur: internal error: %s\n", error.what());
    return 70;
}
