// Parsing, comparing, compressing and indexing host ranges.
#include "core/text/hostlist.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <utility>

#include "core/text/lexical.hpp"

namespace spur {
namespace {

using Run = HostSet::Run;

constexpr std::size_t max_digits = 18;  // what surely fits 64 bits; digits before those belong to the prefix

std::uint64_t power_of_ten(std::size_t exponent) {
    std::uint64_t power = 1;
    while (exponent-- > 0) power *= 10;
    return power;
}

std::size_t digits_of(std::uint64_t value) {
    std::size_t digits = 1;
    while (value >= 10) ++digits, value /= 10;
    return digits;
}

std::size_t written_digits(std::uint64_t value, std::size_t width) { return std::max(width, digits_of(value)); }

std::size_t trailing_digits(std::string_view text) {
    std::size_t count = 0;
    while (count < text.size() && is_digit(text[text.size() - 1 - count])) ++count;
    return count;
}

HostRange literal(std::string_view name) {
    const auto digits = std::min(trailing_digits(name), max_digits);
    const auto prefix = name.substr(0, name.size() - digits);
    if (digits == 0) return {.prefix = std::string{prefix}};
    const auto number = *find_unsigned(name.substr(prefix.size()));
    return {std::string{prefix}, number, number, static_cast<std::uint8_t>(digits)};
}

std::string_view digits_at(std::string_view text, std::size_t begin) {
    std::size_t end = begin;
    while (end < text.size() && is_digit(text[end])) ++end;
    return text.substr(begin, end - begin);
}

// Like people order names: n2 before n10. Numbers with leading zeros come first and compare digit by digit.
std::strong_ordering natural_order(std::string_view a, std::string_view b) {
    for (std::size_t i = 0; i < a.size() && i < b.size();) {
        const auto number_a = digits_at(a, i);
        const auto number_b = digits_at(b, i);
        if (number_a.empty() || number_b.empty()) {
            if (a[i] != b[i]) return static_cast<unsigned char>(a[i]) <=> static_cast<unsigned char>(b[i]);
            ++i;
            continue;
        }
        const bool has_zero = number_a.front() == '0' || number_b.front() == '0';
        if (!has_zero && number_a.size() != number_b.size()) return number_a.size() <=> number_b.size();
        if (number_a != number_b) return number_a <=> number_b;
        i += number_a.size();
    }
    return a.size() <=> b.size();
}

std::strong_ordering run_order(const Run& a, const Run& b) {
    if (const auto order = natural_order(a.prefix, b.prefix); order != 0) return order;
    if (a.digits != b.digits) return a.digits <=> b.digits;
    return a.low <=> b.low;
}

// Slurm's order: by prefix, then by how long the first number is written, then by its value.
std::strong_ordering range_order(const HostRange& a, const HostRange& b) {
    if (const auto order = natural_order(a.prefix, b.prefix); order != 0) return order;
    const auto digits = [](const HostRange& range) { return range.width ? written_digits(range.low, range.width) : 0; };
    if (digits(a) != digits(b)) return digits(a) <=> digits(b);
    return a.low <=> b.low;
}

// Whether `a` would write the numbers of `b` just as `b` does.
bool same_family(const HostRange& a, const HostRange& b) {
    return a.is_numbered() && b.is_numbered() && a.prefix == b.prefix &&
           written_digits(b.low, a.width) == written_digits(b.low, b.width);
}

bool same_family(const Run& a, const Run& b) { return a.digits == b.digits && a.prefix == b.prefix; }

// One run per number of digits: n[8-101] is n8-n9, n10-n99, n100-n101.
void append_runs(const HostRange& range, std::vector<Run>& out) {
    if (!range.is_numbered()) return out.push_back({.prefix = range.prefix});
    for (auto low = range.low;;) {
        const auto digits = written_digits(low, range.width);
        const auto high = std::min(range.high, power_of_ten(digits) - 1);
        out.push_back({range.prefix, low, high, static_cast<std::uint8_t>(digits)});
        if (high == range.high) return;
        low = high + 1;
    }
}

// n1[3-4] is n[13-14]: digits at the end of the prefix belong to the number, so that equal names are equal runs.
Run folded(Run run) {
    if (run.digits == 0) return run;
    const auto moved = std::min(trailing_digits(run.prefix), max_digits - run.digits);
    if (moved == 0) return run;
    const auto kept = run.prefix.size() - moved;
    const auto offset = *find_unsigned(std::string_view{run.prefix}.substr(kept)) * power_of_ten(run.digits);
    run.prefix.resize(kept);
    return {std::move(run.prefix), offset + run.low, offset + run.high, static_cast<std::uint8_t>(run.digits + moved)};
}

std::vector<Run> united(std::vector<Run> runs) {
    std::ranges::sort(runs, [](const Run& a, const Run& b) { return run_order(a, b) < 0; });
    std::vector<Run> result;
    for (auto& run : runs) {
        if (!result.empty() && same_family(result.back(), run) && run.low <= result.back().high + 1)
            result.back().high = std::max(result.back().high, run.high);
        else
            result.push_back(std::move(run));
    }
    return result;
}

// Whether all of `run` comes before `other`, with nothing in common.
bool lies_before(const Run& run, const Run& other) {
    return same_family(run, other) ? run.high < other.low : run_order(run, other) < 0;
}

// ---- parsing -------------------------------------------------------------------------------------------------------

struct Span {
    std::uint64_t low{};
    std::uint64_t high{};
    std::size_t width{};
};

// Text up to a bracket, and what the bracket holds; the last piece of a token may have no bracket.
struct Piece {
    std::string_view text;
    std::vector<Span> spans;

    std::size_t size() const {
        std::size_t total = 0;
        for (const auto& span : spans) total += span.high - span.low + 1;
        return total;
    }
};

// Steps through a piece's numbers and begins again after the last.
class Wheel {
public:
    explicit Wheel(const Piece& piece) : piece_{&piece} {}
    void append_to(std::string& name) const {
        const auto& span = piece_->spans[span_];
        name.append(piece_->text);
        fmt::format_to(std::back_inserter(name), "{:0{}}", span.low + past_, span.width);
    }
    bool turn() {  // false: it has been all round
        if (piece_->spans[span_].low + ++past_ <= piece_->spans[span_].high) return true;
        past_ = 0;
        if (++span_ < piece_->spans.size()) return true;
        span_ = 0;
        return false;
    }

private:
    const Piece* piece_;
    std::size_t span_{};
    std::uint64_t past_{};
};

Result<Span> parse_span(std::string_view text, std::string_view token) {
    const auto dash = text.find('-');
    const auto low_text = trim(text.substr(0, dash));
    const auto high_text = dash == std::string_view::npos ? low_text : trim(text.substr(dash + 1));
    const auto low = find_unsigned(low_text);
    const auto high = find_unsigned(high_text);
    if (!low || !high || low_text.size() > max_digits || high_text.size() > max_digits)
        return fail(ErrorCode::invalid, "{} has an invalid range {}; write numbers like 1-4 or 7 between the brackets",
                    quoted(token), quoted(text));
    if (*high < *low)
        return fail(ErrorCode::invalid, "{} has a range that runs backwards: {}", quoted(token), quoted(text));
    if (*high - *low >= max_hosts_in_range)
        return fail(ErrorCode::limit, "{} has too many hosts in range {}; at most {} are allowed", quoted(token),
                    quoted(text), max_hosts_in_range);
    return Span{*low, *high, low_text.size()};
}

Result<std::vector<Piece>> parse_pieces(std::string_view token) {
    std::vector<Piece> pieces;
    for (auto rest = token; !rest.empty();) {
        const auto open = rest.find_first_of("[]");
        Piece piece{.text = rest.substr(0, open), .spans = {}};
        if (open == std::string_view::npos) {
            pieces.push_back(std::move(piece));
            break;
        }
        if (rest[open] == ']')
            return fail(ErrorCode::invalid, "{} has a closing bracket without an opening one", quoted(token));
        const auto close = rest.find_first_of("[]", open + 1);
        if (close == std::string_view::npos)
            return fail(ErrorCode::invalid, "{} has an unclosed bracket", quoted(token));
        if (rest[close] == '[') return fail(ErrorCode::invalid, "{} has a bracket inside a bracket", quoted(token));
        for (const auto part : split(rest.substr(open + 1, close - open - 1), ',')) {
            SPUR_TRY(piece.spans.emplace_back(), parse_span(part, token));
        }
        pieces.push_back(std::move(piece));
        rest.remove_prefix(close + 1);
    }
    return pieces;
}

// The names of n[1-2]-[1-2]-[1-2] come in Slurm's order: the last bracket turns fastest, then the first, the second...
template <class Visit>
void for_each_prefix(std::span<const Piece> outer, const Visit& visit) {
    std::vector<Wheel> wheels(outer.begin(), outer.end());
    for (;;) {
        std::string prefix;
        for (const auto& wheel : wheels) wheel.append_to(prefix);
        visit(prefix);
        if (std::ranges::none_of(wheels, [](Wheel& wheel) { return wheel.turn(); })) return;
    }
}

template <class Visit>
void for_each_range(std::span<const Piece> pieces, const Visit& visit) {
    const bool has_suffix = pieces.back().spans.empty();
    const std::string suffix{has_suffix ? pieces.back().text : ""};
    if (has_suffix) pieces = pieces.first(pieces.size() - 1);
    if (pieces.empty()) return visit(literal(suffix));

    const auto& inner = pieces.back();
    for_each_prefix(pieces.first(pieces.size() - 1), [&](std::string prefix) {
        prefix.append(inner.text);
        for (const auto& [low, high, width] : inner.spans) {
            if (!has_suffix) {
                visit(HostRange{prefix, low, high, static_cast<std::uint8_t>(width)});
                continue;
            }
            for (auto number = low; number <= high; ++number)
                visit(literal(fmt::format("{}{:0{}}{}", prefix, number, width, suffix)));
        }
    });
}

// Tokens are separated by commas and blanks outside brackets.
std::string_view next_token(std::string_view& rest) {
    const auto separates = [](char c) { return c == ',' || is_blank(c); };
    while (!rest.empty() && separates(rest.front())) rest.remove_prefix(1);
    std::size_t end = 0;
    bool inside = false;
    for (; end < rest.size() && (inside || !separates(rest[end])); ++end) {
        if (rest[end] == '[') inside = true;
        if (rest[end] == ']') inside = false;
    }
    const auto token = rest.substr(0, end);
    rest.remove_prefix(end);
    return token;
}

}  // namespace

std::string HostRange::name(std::size_t index) const {
    return is_numbered() ? fmt::format("{}{:0{}}", prefix, low + index, width) : prefix;
}

// ---- lists ---------------------------------------------------------------------------------------------------------

Result<HostList> HostList::parse(std::string_view text, std::size_t most) {
    HostList list;
    for (auto token = next_token(text); !token.empty(); token = next_token(text)) {
        SPUR_TRY(const auto pieces, parse_pieces(token));
        std::size_t count = 1;
        for (const auto& piece : pieces) {
            if (!piece.spans.empty()) count *= piece.size();
            if (list.size_ + count > most)
                return fail(ErrorCode::limit, "{} makes a list of more than {} hosts", quoted(token), most);
        }
        for_each_range(pieces, [&](HostRange range) { list.push_range(std::move(range)); });
    }
    return list;
}

HostList HostList::of(std::span<const std::string> names) {
    HostList list;
    for (const auto& name : names) list.push_back(name);
    return list;
}

void HostList::push_back(std::string_view name) { push_range(literal(name)); }

void HostList::append(const HostList& other) {
    for (auto range : std::vector{other.ranges_}) push_range(std::move(range));
}

void HostList::push_range(HostRange range) {
    size_ += range.size();
    if (!ranges_.empty()) {
        auto& last = ranges_.back();
        if (same_family(last, range) && last.high + 1 == range.low &&
            last.size() + range.size() <= max_hosts_in_range) {
            last.high = range.high;
            return;
        }
    }
    ranges_.push_back(std::move(range));
}

std::optional<std::size_t> HostList::find(std::string_view name) const {
    std::size_t before = 0;
    for (const auto& range : ranges_) {
        if (name.starts_with(range.prefix)) {
            const auto rest = name.substr(range.prefix.size());
            if (!range.is_numbered() && rest.empty()) return before;
            const auto number = rest.size() <= max_digits ? find_unsigned(rest) : std::nullopt;
            if (range.is_numbered() && number && *number >= range.low && *number <= range.high &&
                written_digits(*number, range.width) == rest.size())
                return before + (*number - range.low);
        }
        before += range.size();
    }
    return std::nullopt;
}

std::optional<std::string> HostList::nth(std::size_t index) const {
    for (const auto& range : ranges_) {
        if (index < range.size()) return range.name(index);
        index -= range.size();
    }
    return std::nullopt;
}

std::vector<std::string> HostList::names() const {
    std::vector<std::string> result;
    result.reserve(size_);
    for (const auto& range : ranges_)
        for (std::size_t i = 0; i < range.size(); ++i) result.push_back(range.name(i));
    return result;
}

std::string HostList::str() const {
    std::string text;
    for (auto range = ranges_.begin(); range != ranges_.end();) {
        auto end = std::next(range);
        while (end != ranges_.end() && range->is_numbered() && end->is_numbered() && end->prefix == range->prefix)
            ++end;
        if (!text.empty()) text += ',';
        text += range->prefix;
        const bool bracket = std::distance(range, end) > 1 || range->size() > 1;
        if (bracket) text += '[';
        for (auto part = range; part != end; ++part) {
            if (part != range) text += ',';
            if (part->is_numbered()) fmt::format_to(std::back_inserter(text), "{:0{}}", part->low, part->width);
            if (part->size() > 1) fmt::format_to(std::back_inserter(text), "-{:0{}}", part->high, part->width);
        }
        if (bracket) text += ']';
        range = end;
    }
    return text;
}

HostList HostList::sorted() const {
    auto ranges = ranges_;
    std::ranges::stable_sort(ranges, [](const auto& a, const auto& b) { return range_order(a, b) < 0; });

    HostList list;
    for (auto range = ranges.begin(); range != ranges.end();) {
        auto end = std::next(range);
        for (auto high = range->high; end != ranges.end() && same_family(*range, *end) && end->low <= high; ++end)
            high = std::max(high, end->high);
        if (std::distance(range, end) == 1) {
            list.push_range(std::move(*range));
        } else {  // repeats: 1-3 and 2-4 are 1-2, 2-3, 3-4
            std::vector<std::uint64_t> numbers;
            for (auto part = range; part != end; ++part)
                for (auto number = part->low; number <= part->high; ++number) numbers.push_back(number);
            std::ranges::sort(numbers);
            for (const auto number : numbers) list.push_range({range->prefix, number, number, range->width});
        }
        range = end;
    }
    return list;
}

// ---- sets ----------------------------------------------------------------------------------------------------------

HostSet::HostSet(std::vector<Run> sorted_runs) : runs_{std::move(sorted_runs)} {
    for (const auto& run : runs_) size_ += run.high - run.low + 1;
}

HostSet::HostSet(const HostList& list) {
    std::vector<Run> runs;
    for (const auto& range : list.ranges()) append_runs(range, runs);
    for (auto& run : runs) run = folded(std::move(run));
    *this = HostSet{united(std::move(runs))};
}

Result<HostSet> HostSet::parse(std::string_view text, std::size_t most) {
    SPUR_TRY(const auto list, HostList::parse(text, most));
    return HostSet{list};
}

HostSet HostSet::of(std::span<const std::string> names) { return HostSet{HostList::of(names)}; }

bool HostSet::contains(std::string_view name) const {
    const auto range = literal(name);
    const Run wanted{range.prefix, range.low, range.high, range.width};
    const auto run =
        std::ranges::lower_bound(runs_, wanted, [](const Run& a, const Run& b) { return lies_before(a, b); });
    return run != runs_.end() && same_family(*run, wanted) && run->low <= wanted.low && wanted.high <= run->high;
}

HostSet HostSet::operator|(const HostSet& other) const {
    auto runs = runs_;
    runs.insert(runs.end(), other.runs_.begin(), other.runs_.end());
    return HostSet{united(std::move(runs))};
}

HostSet HostSet::operator&(const HostSet& other) const {
    std::vector<Run> runs;
    for (auto a = runs_.begin(), b = other.runs_.begin(); a != runs_.end() && b != other.runs_.end();) {
        if (lies_before(*a, *b)) {
            ++a;
        } else if (lies_before(*b, *a)) {
            ++b;
        } else {
            runs.push_back({a->prefix, std::max(a->low, b->low), std::min(a->high, b->high), a->digits});
            a->high < b->high ? ++a : ++b;
        }
    }
    return HostSet{std::move(runs)};
}

HostSet HostSet::operator-(const HostSet& other) const {
    std::vector<Run> runs;
    auto cut = other.runs_.begin();
    for (auto run : runs_) {
        while (cut != other.runs_.end() && lies_before(*cut, run)) ++cut;
        bool is_left = true;
        for (auto part = cut; is_left && part != other.runs_.end() && !lies_before(run, *part); ++part) {
            if (part->low > run.low) runs.push_back({run.prefix, run.low, part->low - 1, run.digits});
            is_left = part->high < run.high;
            run.low = part->high + 1;
        }
        if (is_left) runs.push_back(std::move(run));
    }
    return HostSet{std::move(runs)};
}

HostList HostSet::list() const {
    HostList list;
    for (const auto& run : runs_) list.push_range({run.prefix, run.low, run.high, run.digits});
    return list;
}

Result<std::vector<std::string>> expand_hosts(std::string_view text) {
    SPUR_TRY(const auto list, HostList::parse(text));
    return list.names();
}

std::string compress_hosts(std::span<const std::string> names) { return HostSet::of(names).str(); }

}  // namespace spur
