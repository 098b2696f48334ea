// Finding spurdbd.
#include "cli/common/accounting.hpp"

#include "daemons/common/wire/accounting_name.hpp"

namespace spur::cli {

Answer<wire::Channel> open_accounting(Session& session) {
    auto there = session.cluster().accounting;
    if (there.empty()) {
        const auto config = session.call<v1::GetConfigReply>("GetConfig", v1::GetConfigRequest{});
        if (!config) return std::unexpected(config.error());
        for (const auto& item : config->items())
            if (item.key() == "AccountingStorageHost" && !item.value().empty() && item.value() != "(null)")
                if (auto parsed = Endpoint::parse_list(item.value(), accounting_port)) there = std::move(*parsed);
    }
    if (there.empty())
        return std::unexpected(
            Failure{"Slurm accounting storage is disabled",
                    {"this cluster keeps no history: run a spurdbd, and name it as [accounting] host in spur.conf"},
                    ErrorCode::unavailable});
    return session.channel_to(there.front(), wire::accounting_name);
}

}  // namespace spur::cli
