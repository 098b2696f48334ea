// The opening words as bytes.
#include "daemons/common/isolate/opening.hpp"

namespace spur::isolate {
namespace {

void pack_value(Pack& out, const ConfigValue& value) {
    out.raw(static_cast<std::uint8_t>(value.index()));
    if (const auto* flag = std::get_if<bool>(&value)) out.raw(*flag);
    if (const auto* number = std::get_if<std::int64_t>(&value)) out.raw(*number);
    if (const auto* real = std::get_if<double>(&value)) out.raw(*real);
    if (const auto* text = std::get_if<std::string>(&value)) out.text(*text);
    if (const auto* list = std::get_if<std::vector<std::string>>(&value)) {
        out.raw(std::uint64_t{list->size()});
        for (const auto& each : *list) out.text(each);
    }
}

std::vector<std::string> unpack_list(Unpack& in) {
    std::vector<std::string> list;
    for (auto left = in.get<std::uint64_t>(); left > 0 && in.good(); --left) list.emplace_back(in.text());
    return list;
}

ConfigValue unpack_value(Unpack& in) {
    switch (in.get<std::uint8_t>()) {
        case 0:
            return in.get<bool>();
        case 1:
            return in.get<std::int64_t>();
        case 2:
            return in.get<double>();
        case 3:
            return std::string{in.text()};
        default:
            return unpack_list(in);
    }
}

}  // namespace

void pack(Pack& out, const host::IsolationWanted& wanted) {
    out.text(wanted.axis->name);
    out.raw(log::level());
    for (const auto* text : {&wanted.type, &wanted.file, &wanted.program, &wanted.version, &wanted.config_source})
        out.text(*text);
    out.raw(wanted.check_owner);
    out.raw(std::uint64_t{wanted.facts.size()});
    for (const auto& [key, value] : wanted.facts) out.text(key), out.text(value);
    out.raw(std::uint64_t{wanted.dirs.size()});
    for (const auto& dir : wanted.dirs) out.text(dir);
    out.raw(std::uint64_t{wanted.options.size()});
    for (const auto& option : wanted.options) {
        out.text(option.key);
        out.raw(option.line);
        pack_value(out, option.value);
    }
}

std::optional<Opening> unpack_opening(std::string_view bytes) {
    Unpack in{bytes};
    Opening opening;
    auto& wanted = opening.wanted;
    opening.axis = in.text();
    in.raw(opening.level);
    for (auto* text : {&wanted.type, &wanted.file, &wanted.program, &wanted.version, &wanted.config_source})
        *text = in.text();
    in.raw(wanted.check_owner);
    for (auto left = in.get<std::uint64_t>(); left > 0 && in.good(); --left) {
        const std::string key{in.text()};
        wanted.facts[key] = in.text();
    }
    wanted.dirs = unpack_list(in);
    for (auto left = in.get<std::uint64_t>(); left > 0 && in.good(); --left) {
        ConfigOption option;
        option.key = in.text();
        in.raw(option.line);
        option.value = unpack_value(in);
        wanted.options.push_back(std::move(option));
    }
    if (!in.good()) return std::nullopt;
    return opening;
}

void pack(Pack& out, const Opened& opened) {
    out.text(opened.module);
    out.raw(opened.ops);
    out.raw(opened.header);
    out.raw(opened.refusal.has_value());
    if (!opened.refusal) return;
    out.raw(opened.refusal->code);
    out.text(opened.refusal->text);
}

std::optional<Opened> unpack_opened(std::string_view bytes) {
    Unpack in{bytes};
    Opened opened;
    opened.module = in.text();
    in.raw(opened.ops);
    in.raw(opened.header);
    if (in.get<bool>()) {
        const auto code = in.get<ErrorCode>();
        opened.refusal = Error{code, std::string{in.text()}};
    }
    if (!in.good()) return std::nullopt;
    return opened;
}

}  // namespace spur::isolate
