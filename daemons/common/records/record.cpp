// Values as text, as Slurm writes each type.
#include "daemons/common/records/record.hpp"

#include <cstdlib>

#include "core/slurm/signal.hpp"
#include "core/text/quantity.hpp"
#include "core/text/timefmt.hpp"

namespace spur::records {
namespace {

std::string written(std::int64_t number, Type type, Look look, const Context& context) {
    const bool listing = look == Look::listing;
    const auto size = static_cast<std::uint64_t>(number);
    const auto word = static_cast<std::uint32_t>(number);
    switch (type) {
        case Type::time:
            return time_text(number, context.now, "");
        case Type::minutes:
            if (!listing && word == no_value) return "Partition_Limit";
            return listing ? print_limit(word) : print_long_limit(word);
        case Type::seconds:
            return listing ? print_duration(number) : print_long_duration(number);
        case Type::mib:
            if (number == 0) return "0";
            return listing && !context.convert_units ? print_mib_unconverted(size) : print_mib(size);
        case Type::yes_no:
            return listing ? (number ? "yes" : "no") : (number ? "YES" : "NO");
        case Type::hundredths:
            return fmt::format("{:.2f}", static_cast<double>(number) / 100);
        case Type::exit_status:
            return listing ? fmt::format("{}", (word >> 8) & 0xff) : print_exit(word);
        case Type::text:
        case Type::count:
        case Type::number:
        case Type::flag:
        case Type::real:
            break;
    }
    return fmt::format("{}", number);
}

}  // namespace

std::string_view write(const Value& value, Type type, Look look, const char* absent, const Context& context,
                       std::string& scratch) {
    if (value.is_absent()) return absent ? absent : "(null)";
    if (value.is_real()) return scratch = fmt::format("{:f}", value.real());
    if (!value.is_number()) return value.text();
    scratch = written(value.number(), type, look, context);
    return scratch;
}

std::string time_text(std::int64_t time, std::int64_t now, std::string_view absent) {
    if (time == 0) return std::string(absent);
    const char* format = std::getenv("SLURM_TIME_FORMAT");
    return print_time(time, now, format ? format : "");
}

}  // namespace spur::records
