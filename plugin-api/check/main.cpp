// spur-plugin-check - holds a plugin to the promises of its interface before a customer does.
#include "case.hpp"
#include "module.hpp"
#include "report.hpp"
#include "runner.hpp"

#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <optional>
#include <sstream>

namespace {

using namespace spur::check;

constexpr const char* usage_text =
    R"(Usage: spur-plugin-check [OPTION...] FILE.so [fuzz]

Tries a plugin against the promises in the headers under spur/plugin/, each case in a process of its own. With `fuzz`
the laws of its axis are tried on many more random clusters, from another seed each time.

  --only-failed      print failed cases and the summary only
  --in-process       run the cases in this process, for a debugger
  --json             print JSON
  --case NAME        run this case only; may be repeated
  --set KEY=VALUE    give the plugin this option, as in spur.conf; may be repeated
  --seed N           begin with this seed (default 1; with fuzz: from the clock)
  --rounds N         random clusters for each law (default 40; with fuzz: 1000)
  --list             print the cases and what each shows
  --help, --version

Exit code: 0 all passed or skipped, 1 some failed, 2 could not run.
)";

struct Options {
    std::string file;
    Report::Form form = Report::Form::text;
    bool in_process = false, fuzz = false, list = false;
    std::vector<std::string> only;
    std::map<std::string, std::string> settings;
    std::optional<std::uint64_t> seed;
    std::optional<unsigned> rounds;
};

struct Complaint {
    std::string text;
};

template <class Number>
Number number_in(const char* option, const char* text) {
    Number value{};
    const std::string_view all(text);
    const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
    if (error != std::errc{} || end != all.data() + all.size())
        throw Complaint{fmt::format("--{} wants a whole number, not \"{}\"", option, text)};
    return value;
}

void set_option(Options& options, int letter, const char* value) {
    switch (letter) {
        case 'f':
            options.form = Report::Form::only_failed;
            break;
        case 'j':
            options.form = Report::Form::json;
            break;
        case 'i':
            options.in_process = true;
            break;
        case 'l':
            options.list = true;
            break;
        case 'c':
            options.only.emplace_back(value);
            break;
        case 's':
            options.seed = number_in<std::uint64_t>("seed", value);
            break;
        case 'r':
            options.rounds = number_in<unsigned>("rounds", value);
            break;
        case 'k': {
            const std::string pair(value);
            const auto equals = pair.find('=');
            if (equals == 0 || equals == std::string::npos)
                throw Complaint{fmt::format("--set wants KEY=VALUE, not \"{}\"", pair)};
            options.settings[pair.substr(0, equals)] = pair.substr(equals + 1);
            break;
        }
        case 'h':
            fmt::print("{}", usage_text), std::exit(0);
        case 'v':
            fmt::print("spur-plugin-check {}, headers {}\n", SPUR_VERSION, SPUR_HEADERS_VERSION), std::exit(0);
        default:
            throw Complaint{"try --help"};
    }
}

Options parse(int argc, char** argv) {
    static constexpr option table[] = {{"only-failed", no_argument, nullptr, 'f'},
                                       {"json", no_argument, nullptr, 'j'},
                                       {"in-process", no_argument, nullptr, 'i'},
                                       {"list", no_argument, nullptr, 'l'},
                                       {"case", required_argument, nullptr, 'c'},
                                       {"seed", required_argument, nullptr, 's'},
                                       {"rounds", required_argument, nullptr, 'r'},
                                       {"set", required_argument, nullptr, 'k'},
                                       {"help", no_argument, nullptr, 'h'},
                                       {"version", no_argument, nullptr, 'v'},
                                       {nullptr, 0, nullptr, 0}};
    Options options;
    for (int letter; (letter = getopt_long(argc, argv, "h", table, nullptr)) != -1;)
        set_option(options, letter, optarg);
    std::vector<std::string> words(argv + optind, argv + argc);
    if (options.list) return options;
    if (words.size() == 2 && words[1] == "fuzz") options.fuzz = true, words.pop_back();
    if (words.size() != 1) throw Complaint{"which file? spur-plugin-check FILE.so [fuzz]; try --help"};
    std::error_code error;
    options.file = std::filesystem::canonical(words[0], error);
    if (error) throw Complaint{fmt::format("{}: {}", words[0], error.message())};
    return options;
}

int list_cases() {
    const auto print = [](const char* group, std::span<const Case> cases) {
        fmt::print("{}\n", group);
        for (const auto& one : cases)
            fmt::print("  {:<20} {}{}\n", one.name, one.promise,
                       one.since == 0 ? "" : fmt::format(" (since 1.{})", one.since));
    };
    print("every plugin", module_cases());
    print("every instance", lifecycle_cases());
    for (const auto* axis : axes()) print(axis->name, axis->laws);
    return 0;
}

class Checker {
public:
    explicit Checker(const Options& options)
        : options_(options),
          seed_(options.seed.value_or(options.fuzz ? seed_from_clock() : 1)),
          report_(options.form, options.file, seed_) {}

    int run() {
        const auto found = survey();
        if (found.verdict != Verdict::ok) {
            report_.add({"", "entry", "the file can be loaded and introduces itself", found});
            return report_.finish();
        }
        std::istringstream lines(found.text);
        std::getline(lines, built_with_);
        for (std::string type, words; std::getline(lines, type, '\t') && std::getline(lines, words);)
            check(type, words);
        if (ran_ == 0)
            throw Complaint{
                fmt::format("there is no case {} for it; --list shows them", fmt::join(options_.only, ", "))};
        return report_.finish();
    }

private:
    static std::uint64_t seed_from_clock() {
        return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count()) % 1'000'000'000;
    }

    // Which plugins are inside; asked in a child, since opening it may be the end of that child.
    Outcome survey() const {
        const auto body = [&] {
            const Module module(options_.file);
            auto text = text_of(module.get().built_with, "spur_module.built_with") + "\n";
            for (const auto* desc : module.plugins()) {
                require(desc->size >= sizeof(std::uint32_t) * 2 + sizeof(void*),
                        "a descriptor has size {}: set it to sizeof(spur_plugin_desc)", desc->size);
                const auto type = text_of(desc->type, "type");
                text += fmt::format("{}\t{} {}\n", type, type, text_of(desc->version, "version"));
            }
            return text;
        };
        return options_.in_process ? run_here(body) : run_in_child(body, std::chrono::seconds(20));
    }

    void check(const std::string& type, const std::string& words) {
        report_.plugin(type, words);
        const auto* axis = find_axis(type);
        if (!options_.fuzz) {
            run_all(type, module_cases());
            if (axis != nullptr) run_all(type, lifecycle_cases());
        }
        if (axis != nullptr) run_all(type, axis->laws);
    }

    void run_all(const std::string& type, std::span<const Case> cases) {
        for (const auto& one : cases) {
            if (!options_.only.empty() && std::ranges::find(options_.only, one.name) == options_.only.end()) continue;
            ++ran_;
            const Scratch scratch;
            const Subject subject{.file = options_.file,
                                  .type = type,
                                  .settings = options_.settings,
                                  .seed = seed_,
                                  .clusters = options_.rounds.value_or(options_.fuzz ? 1000 : 40),
                                  .scratch = scratch.path()};
            const auto body = [&] {
                if (one.since > minor_of(built_with_))
                    skip("not applicable: a law since 1.{}, and it was built with headers {}", one.since, built_with_);
                return one.run(subject);
            };
            const std::chrono::seconds patience(one.seconds * (options_.fuzz || options_.rounds ? 30 : 1));
            report_.add(
                {type, one.name, one.promise, options_.in_process ? run_here(body) : run_in_child(body, patience)});
        }
    }

    const Options& options_;
    std::uint64_t seed_;
    Report report_;
    std::string built_with_;
    unsigned ran_ = 0;
};

}  // namespace

int main(int argc, char** argv) try {
    const auto options = parse(argc, argv);
    return options.list ? list_cases() : Checker(options).run();
} catch (const Complaint& complaint) {
    fmt::print(stderr, "spur-plugin-check: {}\n", complaint.text);
    return 2;
} catch (const std::exception& error) {
    fmt::print(stderr, "spur-plugin-check: {}\n", error.what());
    return 2;
}
