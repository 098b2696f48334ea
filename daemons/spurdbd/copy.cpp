// Page by page.
#include "daemons/spurdbd/copy.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>

#include "daemons/common/history/row_buffer.hpp"
#include "daemons/spurdbd/import.hpp"

namespace spur::dbd {
namespace {

constexpr std::uint32_t copied_at_once = 2000;
#define SPUR_TABLE_NUMBER(number, name, fields) number,
constexpr std::uint32_t every_table[] = {SPUR_ROW_TABLES(SPUR_TABLE_NUMBER)};
#undef SPUR_TABLE_NUMBER

}  // namespace

Result<std::uint64_t> copy_database(Database& from, Database& to) {
    std::uint64_t count = 0;
    for (const auto table : every_table) {
        Query query;
        query.table = table;
        query.limit = copied_at_once;
        query.with_removed = true;
        do {
            std::map<std::string, std::vector<v1::HistoryRow>> rows;
            SPUR_TRY(query.after, from.query(query, [&](const spur_row& row) {
                auto message = history::read_row(row);
                auto& list = rows[message.cluster()];
                list.push_back(std::move(message));
            }));
            for (const auto& [cluster, list] : rows) {
                SPUR_CHECK(to.store_rows(cluster, list));
                count += list.size();
            }
        } while (!query.after.empty());
    }
    return count;
}

Result<std::uint64_t> import_file(Server& server, const std::string& path, const std::string& cluster) {
    std::ifstream file{path, std::ios::binary};
    if (!file) return fail(ErrorCode::not_found, "{} cannot be read: {}", path, std::strerror(errno));
    const std::string content{std::istreambuf_iterator<char>{file}, {}};
    auto imported = read_import(content, cluster);
    if (!imported) return fail(imported.error().code, "{}: {}", path, imported.error().text);
    const auto now = static_cast<UnixSeconds>(std::time(nullptr));
    const auto count = imported->count();
    for (auto& [name, rows] : imported->rows) {
        const auto since = imported->since.find(name);
        SPUR_CHECK(server.roll_up().store_rows(name, std::move(rows),
                                               since == imported->since.end() ? now : since->second, now));
    }
    SPUR_CHECK(server.roll_up().run(now));
    return count;
}

}  // namespace spur::dbd
