// Reading intervals of sampling.
#include "core/slurm/sampling.hpp"

#include <algorithm>

#include "core/text/lexical.hpp"

namespace spur {

Result<std::optional<std::uint32_t>> parse_sampling(std::string_view text) {
    constexpr std::string_view others[] = {"energy", "network", "filesystem"};
    std::optional<std::uint32_t> tasks;
    for (const auto part : split(text, ',')) {
        const auto equals = part.find('=');
        const bool is_plain = equals == std::string_view::npos;
        const auto type = is_plain ? std::string_view{"task"} : part.substr(0, equals);
        const auto interval = find_unsigned(is_plain ? part : part.substr(equals + 1));
        const bool is_other = std::ranges::find(others, type) != std::end(others);
        if (!interval || *interval > 0x7fffffff || (type != "task" && !is_other)) return fail(ErrorCode::invalid, "");
        if (is_other && *interval != 0)
            return fail(ErrorCode::limit, "{} is not measured by this release of Spur: leave it out, or say {}=0", type,
                        type);
        if (!is_other) tasks = static_cast<std::uint32_t>(*interval);
    }
    return tasks;
}

}  // namespace spur
