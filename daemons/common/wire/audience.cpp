// Audience: the text that names a server, and whether a text names this one.
#include "daemons/common/wire/auth.hpp"

namespace spur::wire {
namespace {

// A name as one part of the text: nothing in it that a header could not carry, and no slash.
std::string encoded(std::string_view name) {
    constexpr std::string_view kept = "-_.:[]+";
    std::string text;
    for (const char c : name) {
        const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (plain || kept.find(c) != std::string_view::npos)
            text += c;
        else
            text += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return text;
}

std::string instance_text(std::uint64_t instance) {
    return instance == 0 ? std::string{} : fmt::format("{:016x}", instance);
}

std::string_view take_last(std::string_view& text) {
    const auto slash = text.rfind('/');
    const auto last = slash == std::string_view::npos ? text : text.substr(slash + 1);
    text = slash == std::string_view::npos ? std::string_view{} : text.substr(0, slash);
    return last;
}

}  // namespace

std::string Audience::text() const { return encoded(cluster) + "/" + encoded(server) + "/" + instance_text(instance); }

Result<void> Audience::check(std::string_view text) const {
    const auto names = [](std::string_view said, const std::string& own) {
        return said.empty() || own.empty() || said == own;
    };
    text = text.substr(0, 500);  // it may be anything
    const auto said_instance = take_last(text), said_server = take_last(text), said_cluster = text;
    if (!names(said_cluster, encoded(cluster)))
        return fail(ErrorCode::denied,
                    "the credential is for cluster {}, and this is {} of cluster {}; do both have the same "
                    "cluster_name in spur.conf?",
                    said_cluster, server, cluster);
    if (!names(said_server, encoded(server)))
        return fail(ErrorCode::denied, "the credential is for {}, and this is {}", said_server, server);
    if (!names(said_instance, instance_text(instance)))
        return fail(ErrorCode::denied, "the credential was made for another process than this {}", server);
    return {};
}

}  // namespace spur::wire
