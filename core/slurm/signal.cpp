// The table of signal names, and parsing --signal.
#include "core/slurm/signal.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include "core/text/lexical.hpp"

namespace spur {
namespace {

constexpr int highest_signal = 64;
constexpr std::uint32_t longest_warning_s = 65'535;

struct NamedSignal {
    std::string_view name;
    int number;
};
// The first name of a number is the one printed.
constexpr std::array signals{
    NamedSignal{"HUP", SIGHUP},       NamedSignal{"INT", SIGINT},       NamedSignal{"QUIT", SIGQUIT},
    NamedSignal{"ILL", SIGILL},       NamedSignal{"TRAP", SIGTRAP},     NamedSignal{"ABRT", SIGABRT},
    NamedSignal{"IOT", SIGIOT},       NamedSignal{"BUS", SIGBUS},       NamedSignal{"FPE", SIGFPE},
    NamedSignal{"KILL", SIGKILL},     NamedSignal{"USR1", SIGUSR1},     NamedSignal{"SEGV", SIGSEGV},
    NamedSignal{"USR2", SIGUSR2},     NamedSignal{"PIPE", SIGPIPE},     NamedSignal{"ALRM", SIGALRM},
    NamedSignal{"TERM", SIGTERM},     NamedSignal{"STKFLT", SIGSTKFLT}, NamedSignal{"CHLD", SIGCHLD},
    NamedSignal{"CLD", SIGCHLD},      NamedSignal{"CONT", SIGCONT},     NamedSignal{"STOP", SIGSTOP},
    NamedSignal{"TSTP", SIGTSTP},     NamedSignal{"TTIN", SIGTTIN},     NamedSignal{"TTOU", SIGTTOU},
    NamedSignal{"URG", SIGURG},       NamedSignal{"XCPU", SIGXCPU},     NamedSignal{"XFSZ", SIGXFSZ},
    NamedSignal{"VTALRM", SIGVTALRM}, NamedSignal{"PROF", SIGPROF},     NamedSignal{"WINCH", SIGWINCH},
    NamedSignal{"IO", SIGIO},         NamedSignal{"POLL", SIGIO},       NamedSignal{"PWR", SIGPWR},
    NamedSignal{"SYS", SIGSYS},
};

std::unexpected<Error> bad_warning(std::string_view text) {
    return fail(ErrorCode::invalid, "Invalid --signal specification {}: write [R][B:]signal[@seconds], as in B:USR1@60",
                quoted(text));
}

}  // namespace

Result<int> parse_signal(std::string_view text) {
    if (const auto number = find_unsigned(text); number && *number > 0 && *number <= highest_signal)
        return static_cast<int>(*number);
    auto name = text;
    if (name.size() > 3 && equal_nocase(name.substr(0, 3), "SIG")) name.remove_prefix(3);
    for (const auto& signal : signals)
        if (equal_nocase(signal.name, name)) return signal.number;
    return fail(ErrorCode::invalid, "Unknown job signal: {}", text);
}

std::string signal_name(int signal) {
    const auto found = std::ranges::find(signals, signal, &NamedSignal::number);
    return found == signals.end() ? fmt::format("{}", signal) : std::string{found->name};
}

Result<WarningSignal> WarningSignal::parse(std::string_view text) {
    WarningSignal warning;
    auto rest = trim(text);
    if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
        for (const char flag : rest.substr(0, colon)) {
            if (flag == 'B' || flag == 'b')
                warning.batch_only = true;
            else if (flag == 'R' || flag == 'r')
                warning.reservation = true;
            else
                return bad_warning(text);
        }
        rest.remove_prefix(colon + 1);
    }
    const auto at = rest.find('@');
    if (at != std::string_view::npos && at + 1 < rest.size()) {
        const auto seconds = find_unsigned(rest.substr(at + 1));
        if (!seconds || *seconds > longest_warning_s) return bad_warning(text);
        warning.before_s = static_cast<std::uint32_t>(*seconds);
    }
    const auto number = parse_signal(rest.substr(0, at));
    if (!number) return bad_warning(text);
    warning.number = *number;
    return warning;
}

std::string WarningSignal::str() const {
    const bool has_flags = reservation || batch_only;
    return fmt::format("{}{}{}{}@{}", reservation ? "R" : "", batch_only ? "B" : "", has_flags ? ":" : "",
                       signal_name(number), before_s);
}

std::string print_exit(std::uint32_t wait_status) {
    return fmt::format("{}:{}", (wait_status >> 8) & 0xff, wait_status & 0x7f);
}

}  // namespace spur
