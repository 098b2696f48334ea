// The ops of a plugin whose instance has a `store`: the same for every database.
#pragma once

#include <spur/plugin/plugin.hpp>

#include "plugins/accounting/common/store.hpp"

namespace spur::accounting {

template <class Instance>
struct Ops {
    using S = spur_plugin*;
    static Store& of(S self) { return plugin::self_cast<Instance>(self).store; }

    static spur_status schema(S self, spur_schema* out, const spur_stop* stop, spur_error* err) {
        return plugin::guard(err, [&] {
            plugin::put(out, of(self).schema(Stop{stop}));
            return SPUR_OK;
        });
    }
    static spur_status migrate(S self, const spur_progress* progress, const spur_stop* stop, spur_error* err) {
        return plugin::guard(err, [&] {
            of(self).migrate(*progress, Stop{stop});
            return SPUR_OK;
        });
    }
    static spur_status store(S self, const spur_batch* batch, const spur_store_report* report, const spur_stop* stop,
                             spur_error* err) {
        return plugin::guard(err, [&] { return of(self).store(*batch, *report, Stop{stop}); });
    }
    static spur_status stored_up_to(S self, spur_str cluster, spur_str stream, std::uint64_t from, std::uint64_t* up_to,
                                    const spur_stop* stop, spur_error* err) {
        return plugin::guard(err, [&] {
            *up_to = of(self).stored_up_to(plugin::view(cluster), plugin::view(stream), from, Stop{stop});
            return SPUR_OK;
        });
    }
    static spur_status query(S self, const spur_query* query, const spur_row_sink* sink, const spur_stop* stop,
                             spur_error* err) {
        return plugin::guard(err, [&] { return of(self).query(*query, *sink, Stop{stop}); });
    }
    static spur_status purge(S self, spur_str cluster, std::uint32_t table, std::int64_t before,
                             const spur_archive* archive, const spur_stop* stop, spur_error* err) {
        return plugin::guard(
            err, [&] { return of(self).purge(plugin::view(cluster), table, before, archive, Stop{stop}); });
    }

    static constexpr spur_accounting_ops table{.size = sizeof(spur_accounting_ops),
                                               .features = 0,
                                               .schema = schema,
                                               .migrate = migrate,
                                               .store = store,
                                               .stored_up_to = stored_up_to,
                                               .query = query,
                                               .purge = purge};
    static const void* find(spur_plugin*, const char* id) {
        return std::string_view(id) == SPUR_ACCOUNTING_IFACE ? &table : nullptr;
    }
};

}  // namespace spur::accounting
