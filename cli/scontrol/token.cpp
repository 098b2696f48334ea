// scontrol token: a token with which its user can ask without further secrets; and --uid, asking as somebody else.
#include "cli/common/output.hpp"
#include "cli/common/users.hpp"
#include "cli/scontrol/control.hpp"
#include "core/text/lexical.hpp"
#include "spur/v1/token.pb.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace spur::cli::scontrol {
namespace {

// "infinite" is as long as a token can be told to last.
std::optional<std::uint32_t> read_lifespan(std::string_view text) {
    if (equal_nocase(text, "infinite")) return std::numeric_limits<std::uint32_t>::max();
    std::uint32_t seconds{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error != std::errc{} || end != text.data() + text.size() || seconds == 0) return std::nullopt;
    return seconds;
}

}  // namespace

Result<void> Control::act_as(const std::string& user) {
    const auto uid = find_user(user);
    if (!uid) return fail(ErrorCode::invalid, "Invalid user id: {}", user);
    acting_as_ = std::to_string(*uid);
    return {};
}

int token(Control& control, Words words) {
    v1::IssueTokenRequest request;
    for (const auto& word : words) {
        const auto equals = word.find('=');
        const auto key = lower(word.substr(0, equals));
        auto value = equals == std::string::npos ? std::string{} : word.substr(equals + 1);
        if (key == "lifespan") {
            const auto seconds = read_lifespan(value);
            if (!seconds) return control.complain("Invalid lifespan: {}", value);
            request.set_lifespan_s(*seconds);
        } else if (key == "username" && !value.empty()) {
            request.set_user(value);
        } else if (key == "scope" && !value.empty()) {
            std::ranges::replace(value, ',', ' ');
            request.set_scopes(value);
        } else {
            return control.complain("Invalid token option: {}", word);
        }
    }
    const auto reply = control.call<v1::IssueTokenReply>("/spur.v1.Tokens/Issue", request, "slurm_fetch_token");
    if (!reply) return control.exit_code;
    print_out(fmt::format("SLURM_JWT={}\n", reply->token()));
    return 0;
}

}  // namespace spur::cli::scontrol
