// Reading a daemon's command line, and --help.
#include "daemons/common/daemon/options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "core/text/suggest.hpp"

namespace spur::daemon {
namespace {

struct Known : OwnOption {
    std::string DaemonOptions::*text{nullptr};  // where the value of a common option goes
    bool DaemonOptions::*flag{nullptr};         // or that it was given
};

constexpr std::array<Known, 10> common{{
    {{"config", 'f', "FILE", "read this configuration; else $SPUR_CONF, else /etc/spur/spur.conf"},
     &DaemonOptions::config_path},
    {{"foreground", 'D', "", "stay in the foreground and log to stderr"}, nullptr, &DaemonOptions::foreground},
    {{"help", 'h', "", "show this and end"}, nullptr, &DaemonOptions::wants_help},
    {{"listen", 0, "HOST:PORT", "serve here, whatever the configuration says; port 0: any free one"},
     &DaemonOptions::listen},
    {{"log-file", 'L', "FILE", "log here, whatever the configuration says"}, &DaemonOptions::log_file},
    {{"pid-file", 0, "FILE", "write the process id here once it serves"}, &DaemonOptions::pid_file},
    {{"state-dir", 'd', "DIR", "keep state here, whatever the configuration says"}, &DaemonOptions::state_dir},
    {{"test", 't', "", "check the configuration and the plugins, then end"}, nullptr, &DaemonOptions::test_only},
    {{"verbose", 'v', "", "say more; may be given several times"}},
    {{"version", 'V', "", "show the version and end"}, nullptr, &DaemonOptions::wants_version},
}};

class Parser {
public:
    Parser(std::string_view program, std::vector<std::string_view> words, const std::vector<OwnOption>& own)
        : program_{program}, words_{std::move(words)} {
        known_.assign(common.begin(), common.end());
        for (const auto& option : own) known_.push_back({option});
    }
    Result<DaemonOptions> run();

private:
    template <class... Args>
    std::unexpected<Error> refuse(fmt::format_string<Args...> text, Args&&... args) const {
        return fail(ErrorCode::invalid, "{}; try {} -h", fmt::format(text, std::forward<Args>(args)...), program_);
    }
    Result<void> read_long(std::string_view word);
    Result<void> read_letters(std::string_view letters);
    Result<std::string> argument_of(const OwnOption& option, std::string_view shown);
    void apply(const Known& option, std::string value);

    std::string_view program_;
    std::vector<std::string_view> words_;
    std::vector<Known> known_;
    std::size_t next_{};
    DaemonOptions options_;
};

void Parser::apply(const Known& option, std::string value) {
    // The daemon's working directory will be another one.
    if (!value.empty() && (option.argument == "FILE" || option.argument == "DIR"))
        value = std::filesystem::absolute(value).native();
    if (option.text != nullptr)
        options_.*option.text = std::move(value);
    else if (option.flag != nullptr)
        options_.*option.flag = true;
    else if (option.name == "verbose")
        ++options_.verbosity;
    else
        options_.own[std::string{option.name}] = std::move(value);
}

Result<std::string> Parser::argument_of(const OwnOption& option, std::string_view shown) {
    if (next_ < words_.size()) return std::string{words_[next_++]};
    return refuse("{} needs {}", shown, option.argument);
}

Result<void> Parser::read_long(std::string_view word) {
    const auto equals = word.find('=');
    const auto name = word.substr(0, equals);
    for (const auto& option : known_) {
        if (option.name != name) continue;
        if (option.argument.empty()) {
            if (equals != std::string_view::npos) return refuse("--{} takes no value", name);
            apply(option, {});
            return {};
        }
        std::string value{equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1)};
        if (equals == std::string_view::npos) {
            SPUR_TRY(value, argument_of(option, fmt::format("--{}", name)));
        }
        apply(option, std::move(value));
        return {};
    }
    std::vector<std::string_view> names;
    for (const auto& option : known_) names.push_back(option.name);
    return refuse("there is no option --{}{}", name, suggestion(name, names));
}

Result<void> Parser::read_letters(std::string_view letters) {
    while (!letters.empty()) {
        const char letter = letters.front();
        letters.remove_prefix(1);
        const auto found = std::ranges::find_if(known_, [&](const auto& option) { return option.letter == letter; });
        if (found == known_.end()) return refuse("there is no option -{}", letter);
        if (found->argument.empty()) {
            apply(*found, {});
            continue;
        }
        std::string value{letters};
        if (letters.empty()) {
            SPUR_TRY(value, argument_of(*found, fmt::format("-{}", letter)));
        }
        apply(*found, std::move(value));
        return {};
    }
    return {};
}

Result<DaemonOptions> Parser::run() {
    while (next_ < words_.size()) {
        const auto word = words_[next_++];
        if (word.starts_with("--") && word.size() > 2) {
            SPUR_CHECK(read_long(word.substr(2)));
        } else if (word.starts_with('-') && word.size() > 1 && word != "--") {
            SPUR_CHECK(read_letters(word.substr(1)));
        } else {
            return refuse("it takes no arguments, and \"{}\" is one", word);
        }
    }
    return std::move(options_);
}

}  // namespace

std::string_view DaemonOptions::get(std::string_view name, std::string_view fallback) const {
    const auto found = own.find(name);
    return found == own.end() ? fallback : std::string_view{found->second};
}

log::Level DaemonOptions::level(std::string_view configured) const {
    const auto base = static_cast<unsigned>(log::find_level(configured).value_or(log::Level::info));
    return static_cast<log::Level>(std::min(base + verbosity, static_cast<unsigned>(log::Level::trace)));
}

Result<DaemonOptions> DaemonOptions::parse(std::string_view program, int argc, const char* const* argv,
                                           const std::vector<OwnOption>& own) {
    std::vector<std::string_view> words;
    for (int i = 1; i < argc; ++i) words.emplace_back(argv[i]);
    return Parser{program, std::move(words), own}.run();
}

std::string usage(std::string_view program, std::string_view summary, const std::vector<OwnOption>& own,
                  std::string_view notes) {
    auto text = fmt::format("{} - {}\n\nUsage: {} [OPTIONS]\n\n", program, summary, program);
    std::vector<OwnOption> all(common.begin(), common.end());
    all.insert(all.end(), own.begin(), own.end());
    std::ranges::sort(all, {}, &OwnOption::name);
    for (const auto& option : all) {
        const auto letter = option.letter != 0 ? fmt::format("-{}, ", option.letter) : std::string{"    "};
        const auto name = fmt::format("--{}{}{}", option.name, option.argument.empty() ? "" : "=", option.argument);
        text += fmt::format("  {}{:<22} {}\n", letter, name, option.help);
    }
    text += fmt::format("\n{}\n", notes);
    return text;
}

}  // namespace spur::daemon
