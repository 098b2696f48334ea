// Parsing, merging and printing gres lists and TRES lists.
#include "core/model/gres.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "core/model/gres_kind.hpp"
#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"
#include "core/text/quantity.hpp"

namespace spur {
namespace {

bool is_word(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_digit(c) || is_alpha(c) || c == '_' || c == '-' || c == '.' || c == '+';
    });
}

std::string_view without_prefix(std::string_view text) {
    if (text.starts_with("gres:") || text.starts_with("gres/")) text.remove_prefix(5);
    return text;
}

std::unexpected<Error> bad_gres(std::string_view text) {
    return fail(refusal::invalid_gres.with(" {}: write name, name:count, name:type or name:type:count", quoted(text)));
}

Result<Gres> parse_item(std::string_view text) {
    const auto parts = split(without_prefix(text), ':');
    if (parts.size() > 3 || !std::ranges::all_of(parts, is_word)) return bad_gres(text);
    if (!is_alpha(parts[0].front()) || parts[0] == "gres") return bad_gres(text);
    Gres gres{.name = std::string{parts[0]}, .type = {}, .count = 1};
    if (parts.size() == 3) {
        const auto count = find_scaled(parts[2]);
        if (!count) return bad_gres(text);
        gres.type = parts[1];
        gres.count = *count;
    } else if (parts.size() == 2) {
        if (const auto count = find_scaled(parts[1]))
            gres.count = *count;
        else
            gres.type = parts[1];
    }
    return gres;
}

// Adds to what is there; refuses what could not be told apart when choosing devices.
Result<void> merge(GresList& list, Gres gres) {
    for (auto& known : list) {
        if (known.name != gres.name) continue;
        if (known.type.empty() != gres.type.empty()) return fail(refusal::gres_type_mixed);
        if (known.type != gres.type) continue;
        if (gres.count > std::numeric_limits<std::uint64_t>::max() - known.count) return bad_gres(gres.name);
        known.count += gres.count;
        return {};
    }
    list.push_back(std::move(gres));
    return {};
}

constexpr std::array<std::string_view, 8> fixed_tres{"cpu",     "mem",     "energy", "node",
                                                     "billing", "fs/disk", "vmem",   "pages"};

// Slurm's order: its own resources by number, then the site's.
std::pair<std::size_t, std::string_view> tres_key(std::string_view name) {
    return {static_cast<std::size_t>(std::ranges::find(fixed_tres, name) - fixed_tres.begin()), name};
}

bool is_memory(std::string_view name) { return name == "mem" || name == "vmem"; }

}  // namespace

Result<GresList> parse_gres(std::string_view text) {
    GresList list;
    if (text.empty() || equal_nocase(text, "none")) return list;
    for (const auto part : split(text, ',')) {
        SPUR_TRY(auto gres, parse_item(trim(part)));
        SPUR_CHECK(merge(list, std::move(gres)));
    }
    return list;
}

std::string print_gres(const GresList& list) {
    std::string text;
    for (const auto& [name, type, count] : list) {
        if (!text.empty()) text += ',';
        text += type.empty() ? fmt::format("{}:{}", name, count) : fmt::format("{}:{}:{}", name, type, count);
    }
    return text;
}

std::uint64_t gres_count(const GresList& list, std::string_view name) {
    std::uint64_t total = 0;
    for (const auto& gres : list)
        if (gres.name == name) total += gres.count;
    return total;
}

std::string gres_of_gpus(std::string_view text) {
    if (text.empty()) return {};
    std::string result;
    for (const auto part : split(text, ','))
        result += fmt::format("{}{}:{}", result.empty() ? "" : ",", gpu_gres, part);
    return result;
}

std::string print_typed_gres(std::string_view text) {
    if (text.empty() || equal_nocase(text, "none")) return {};
    std::string result;
    for (const auto part : split(text, ','))
        result += fmt::format("{}gres:{}", result.empty() ? "" : ",", without_prefix(part));
    return result;
}

// ---- trackable resources -------------------------------------------------------------------------------------------

Result<TresList> TresList::parse(std::string_view text) {
    TresList list;
    if (text.empty()) return list;
    for (const auto part : split(text, ',')) {
        const auto equals = part.find('=');
        const auto name = trim(part.substr(0, equals));
        const auto value = equals == std::string_view::npos ? std::string_view{} : trim(part.substr(equals + 1));
        const auto slash = name.find('/');
        const bool is_known = std::ranges::find(fixed_tres, name) != fixed_tres.end() ||
                              (slash != std::string_view::npos && slash > 0 && slash + 1 < name.size());
        if (!is_known)
            return fail(refusal::invalid_tres.with(" {}: write cpu=4,mem=16G,node=2,gres/gpu:a100=2", quoted(part)));
        const auto mib = is_memory(name) ? parse_mib(value) : Result<std::uint64_t>{0};
        const auto count = is_memory(name) ? (mib ? std::optional{*mib} : std::nullopt) : find_scaled(value);
        if (!count) return fail(refusal::invalid_tres.with(" {}: {} is not a number", quoted(part), quoted(value)));
        if (list.find(name)) return fail(refusal::invalid_tres.with(": {} is there twice", name));
        list.set(name, *count);
    }
    return list;
}

std::optional<std::uint64_t> TresList::find(std::string_view name) const {
    const auto found = std::ranges::find(entries_, name, &Tres::name);
    return found == entries_.end() ? std::nullopt : std::optional{found->count};
}

void TresList::set(std::string_view name, std::uint64_t count) {
    const auto at =
        std::ranges::lower_bound(entries_, tres_key(name), {}, [](const Tres& t) { return tres_key(t.name); });
    if (at != entries_.end() && at->name == name)
        at->count = count;
    else
        entries_.insert(at, {std::string{name}, count});
}

std::string TresList::str() const {
    std::string text;
    for (const auto& [name, count] : entries_) {
        if (!text.empty()) text += ',';
        text += is_memory(name) ? fmt::format("{}={}", name, print_mib(count)) : fmt::format("{}={}", name, count);
    }
    return text;
}

}  // namespace spur
