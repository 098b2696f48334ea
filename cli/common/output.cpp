// Writing to standard output.
#include "cli/common/output.hpp"

#include <cstdio>
#include <ctime>

namespace spur::cli {

void print_out(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

std::string date_line(std::int64_t now) {
    const auto time = static_cast<std::time_t>(now);
    std::tm parts{};
    ::localtime_r(&time, &parts);
    char text[64];
    const auto size = std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y\n", &parts);
    return {text, size};
}

}  // namespace spur::cli
