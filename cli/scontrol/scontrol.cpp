// scontrol: options, keywords, and the conversation when no keyword is given.
#include "cli/scontrol/scontrol.hpp"

#include "cli/common/options.hpp"
#include "cli/common/output.hpp"
#include "cli/scontrol/control.hpp"
#include "core/text/lexical.hpp"

#include <unistd.h>

#include <cstdio>
#include <ctime>

namespace spur::cli {
namespace scontrol {

Session* Control::open(std::string_view what) {
    if (session_) return session_.get();
    auto session = Session::open(self_.controller, &self_.console);
    if (!session) {
        explain(what, session.error());
        return nullptr;
    }
    if (!clusters.empty())
        if (const auto chosen = session->choose_cluster(clusters); !chosen) {
            complain("scontrol: error: {}", chosen.error().text);
            return nullptr;
        }
    session_ = std::make_unique<Session>(std::move(*session));
    return session_.get();
}

void Control::explain(std::string_view what, const Failure& failure) {
    exit_code = 1;
    if (quiet) return;
    failure.print_details(self_.console);
    // "slurm_load_jobs error: ..." for what is named like a function, "Error creating the partition: ..." for a
    // sentence.
    fmt::print(stderr, "{}{}: {}\n", what, what.find(' ') == std::string_view::npos ? " error" : "", failure.text);
}

namespace {

using Action = v1::UpdateJobsRequest;

template <Action::Action Which>
int job_action(Control& control, Words words) {
    return act_on_jobs(control, Which, words);
}

int set_all(Control& control, Words) { return control.all = true, 0; }
int set_hide(Control& control, Words) { return control.all = false, 0; }
int set_details(Control& control, Words) { return ++control.style.details, 0; }
int set_one_line(Control& control, Words) { return control.style.one_line = true, 0; }
int set_quiet(Control& control, Words) { return control.quiet = true, 0; }
int set_verbose(Control&, Words) { return 0; }
int quit(Control& control, Words) { return control.done = true, 0; }
int version(Control&, Words) { return print_out(slurm_version_line), 0; }
int help(Control&, Words);
int not_yet(Control& control, Words) { return control.complain("scontrol: error: this command is not supported yet"); }

struct Keyword {
    std::string_view name;
    std::size_t least;     // letters that must be typed
    std::size_t at_least;  // arguments
    std::size_t at_most;
    int (*run)(Control&, Words);
    const char* help;  // nullptr: not shown
};
constexpr std::size_t any = 1000;
constexpr Keyword keywords[] = {
    {"abort", 5, 0, 0, not_yet, nullptr},
    {"all", 3, 0, 0, set_all, "all                       show hidden partitions too"},
    {"cancel_reboot", 3, 1, 1, cancel_reboot, "cancel_reboot NODES       cancel pending reboots"},
    {"cluster", 2, 0, 1, not_yet, nullptr},
    {"completing", 2, 0, 0, completing, "completing                jobs that are completing, and their nodes"},
    {"create", 2, 0, any, create, "create partition=|reservation= KEY=VALUE ..."},
    {"delete", 3, 1, 1, remove, "delete partition=|reservation="},
    {"details", 3, 0, 0, set_details, nullptr},
    {"errnumstr", 2, 1, 1, not_yet, nullptr},
    {"exit", 2, 0, 0, quit, nullptr},
    {"fsdampeningfactor", 3, 1, 1, not_yet, nullptr},
    {"help", 3, 0, 0, help, "help                      this text"},
    {"hide", 2, 0, 0, set_hide, "hide                      do not show hidden partitions"},
    {"hold", 3, 1, any, job_action<Action::HOLD>, "hold JOBS                 keep pending jobs from starting"},
    {"holdu", 5, 1, any, job_action<Action::USER_HOLD>, nullptr},
    {"listpids", 1, 0, 2, list_pids, "listpids [JOB[.STEP]]     processes of jobs on this node"},
    {"notify", 1, 2, any, not_yet, {}},
    {"oneliner", 1, 0, 0, set_one_line, nullptr},
    {"pidinfo", 3, 1, 1, not_yet, nullptr},
    {"ping", 3, 0, 0, ping, "ping                      are the controllers there?"},
    {"quiet", 4, 0, 0, set_quiet, nullptr},
    {"quit", 4, 0, 0, quit, "quit                      end the conversation"},
    {"reboot", 3, 1, any, reboot, "reboot [ASAP] [reason=] NODES"},
    {"reconfigure", 3, 0, 0, reconfigure, "reconfigure               read the configuration again"},
    {"release", 3, 1, any, job_action<Action::RELEASE>, "release JOBS              undo hold"},
    {"requeue", 3, 1, any, job_action<Action::REQUEUE>, "requeue JOBS              put running or ended jobs back"},
    {"requeuehold", 8, 1, any, job_action<Action::REQUEUE_HOLD>, "requeuehold JOBS          requeue and hold"},
    {"resume", 3, 1, any, job_action<Action::RESUME>, "resume JOBS               undo suspend"},
    {"schedloglevel", 3, 1, 1, not_yet, nullptr},
    {"setdebug", 2, 1, 1, not_yet, nullptr},
    {"setdebugflags", 9, 1, any, not_yet, nullptr},
    {"show", 2, 0, any, show,
     "show ENTITY [ID]          aliases config daemons hostlist hostlistsorted hostnames\n"
     "                            job licenses node partition reservation step topology"},
    {"shutdown", 2, 0, 1, shutdown, "shutdown                  stop the controller; jobs keep running"},
    {"suspend", 2, 1, any, job_action<Action::SUSPEND>, "suspend JOBS              freeze running jobs"},
    {"takeover", 2, 0, 1, takeover, "takeover [INDEX]          make another controller the leader"},
    {"token", 2, 0, 3, token, "token [lifespan=SECONDS] [username=USER] [scope=read,jobs,admin]"},
    {"top", 3, 1, any, job_action<Action::TOP>, "top JOBS                  first among the user's own jobs"},
    {"uhold", 2, 1, any, job_action<Action::USER_HOLD>, "uhold JOBS                hold; the owner may release"},
    {"update", 2, 0, any, update, "update jobid=|nodename=|partition=|reservation= KEY=VALUE ..."},
    {"verbose", 4, 0, 0, set_verbose, nullptr},
    {"version", 4, 0, 0, version, "version                   the Slurm release this behaves like"},
    {"wait_job", 1, 1, 1, wait_job, "wait_job JOB              until its nodes are ready"},
    {"write", 3, 0, 3, write_file, "write batch_script JOB [FILE]"},
};

const Keyword* find_keyword(std::string_view typed) {
    const auto small = lower(typed);
    for (const auto& keyword : keywords)
        if (keyword.name == small) return &keyword;
    for (const auto& keyword : keywords)
        if (small.size() >= keyword.least && keyword.name.starts_with(small)) return &keyword;
    return nullptr;
}

int help(Control&, Words) {
    std::string text =
        "Usage: scontrol [OPTIONS] [COMMAND]\n\nOptions:\n"
        "  -a, --all        show hidden partitions too\n"
        "  -d, --details    more about each record; -dd: still more\n"
        "  -o, --oneliner   one line a record\n"
        "  -Q, --quiet      no messages\n"
        "  -u, --uid=UID    ask as this user; for root and the user the controller runs as\n"
        "  -v, --verbose    more messages\n"
        "  -V, --version    the Slurm release this behaves like\n\n"
        "Commands; without one, they are read from standard input until quit:\n";
    for (const auto& keyword : keywords)
        if (keyword.help) text += fmt::format("  {}\n", keyword.help);
    print_out(text + "\nJOBS are ids, several separated by commas or spaces, or jobname=NAME.\n");
    return 0;
}

int run_keyword(Control& control, Words words) {
    if (words.empty()) return 0;
    const auto* keyword = find_keyword(words[0]);
    if (keyword == nullptr) return control.complain("invalid keyword: {}", words[0]);
    const auto arguments = words.subspan(1);
    if (arguments.size() < keyword->at_least)
        return control.complain("too few arguments for keyword:{}", keyword->name);
    if (arguments.size() > keyword->at_most)
        return control.complain("too many arguments for keyword:{}", keyword->name);
    control.style.now = std::time(nullptr);
    return keyword->run(control, arguments);
}

// Words of one input line; quotes keep spaces together.
std::vector<std::string> split_line(std::string_view line) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    bool inside = false;
    for (const char c : line) {
        if (quote ? c == quote : (c == '"' || c == '\'')) {
            quote = quote ? 0 : c;
            inside = true;
        } else if (!quote && is_blank(c)) {
            if (inside) words.push_back(std::exchange(word, {}));
            inside = false;
        } else {
            word += c;
            inside = true;
        }
    }
    if (inside) words.push_back(word);
    return words;
}

int converse(Control& control) {
    std::vector<std::string> last;
    char line[65536];
    for (;;) {
        print_out("scontrol: ");
        if (std::fgets(line, sizeof line, stdin) == nullptr) break;
        auto words = split_line(line);
        if (words.empty()) continue;
        if (words[0] == "!!")
            words = last;
        else
            last = words;
        control.exit_code = 0;
        run_keyword(control, words);
        if (control.done) break;
    }
    if (!control.done) print_out("\n");
    return control.exit_code;
}

using Row = OptionRow<Control>;
using Set = Result<void>;
constexpr Row options[] = {
    {"all", 'a', Argument::none, nullptr, "", [](Control& c, const char*) -> Set { return c.all = true, Set{}; },
     "SCONTROL_ALL"},
    {"details", 'd', Argument::none, nullptr, "",
     [](Control& c, const char*) -> Set { return ++c.style.details, Set{}; }},
    {"federation", 0, Argument::none, nullptr, nullptr, [](Control&, const char*) -> Set { return {}; }},
    {"future", 'F', Argument::none, nullptr, nullptr, [](Control&, const char*) -> Set { return {}; }},
    {"hide", 0, Argument::none, nullptr, "", [](Control& c, const char*) -> Set { return c.all = false, Set{}; }},
    {"local", 0, Argument::none, nullptr, nullptr, [](Control&, const char*) -> Set { return {}; }},
    {"oneliner", 'o', Argument::none, nullptr, "",
     [](Control& c, const char*) -> Set { return c.style.one_line = true, Set{}; }},
    {"quiet", 'Q', Argument::none, nullptr, "", [](Control& c, const char*) -> Set { return c.quiet = true, Set{}; }},
    {"sibling", 0, Argument::none, nullptr, nullptr, [](Control&, const char*) -> Set { return {}; }},
    {"clusters", 'M', Argument::required, nullptr, nullptr,
     [](Control& c, const char* names) -> Set { return c.clusters = names, Set{}; }, "SLURM_CLUSTERS"},
    {"cluster", 0, Argument::required, nullptr, nullptr,
     [](Control& c, const char* names) -> Set { return c.clusters = names, Set{}; }},
    {"uid", 'u', Argument::required, nullptr, "UID", [](Control& c, const char* who) -> Set { return c.act_as(who); }},
    {"verbose", 'v', Argument::none, nullptr, "", [](Control&, const char*) -> Set { return {}; }},
    {"help", 'h', Argument::none, nullptr, nullptr,
     [](Control& c, const char*) -> Set { return c.done = true, help(c, {}), Set{}; }},
};

}  // namespace

int list_pids(Control& control, Words) {
    return control.complain(
        "scontrol: error: listpids is not supported yet; `scontrol show step` names a step's nodes");
}

}  // namespace scontrol

int run_scontrol(Invocation& self) {
    using namespace scontrol;
    Control control(self);
    const std::span<const OptionRow<Control>> table = options;
    auto outcome = apply_environment(table, control);
    if (outcome.end == ParseEnd::go_on) outcome = apply_words(table, control, self.words);
    if (outcome.end == ParseEnd::help || outcome.end == ParseEnd::usage) return help(control, {});
    if (outcome.end != ParseEnd::go_on) return finish_early(outcome, self.console, {{}, {}});
    if (control.done) return 0;
    if (outcome.rest.empty()) return converse(control);
    return run_keyword(control, outcome.rest);
}

}  // namespace spur::cli
