// Parsing a constraint into a tree and answering those three questions from it.
#include "core/model/constraint.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "core/slurm/refusal.hpp"
#include "core/text/lexical.hpp"

namespace spur {
namespace {

using Kind = Constraint::Kind;
using Node = Constraint::Node;

constexpr int max_depth = 16;

std::size_t brackets_in(const Node& node) {
    std::size_t total = node.kind == Kind::same || node.kind == Kind::mixed;
    for (const auto& part : node.parts) total += brackets_in(part);
    return total;
}

class Parser {
public:
    explicit Parser(std::string_view text) : text_{text} {}

    Result<Node> parse() {
        SPUR_TRY(auto node, any());
        if (position_ != text_.size()) return refuse("{} is unexpected", quoted(text_.substr(position_, 1)));
        if (brackets_in(node) > 1) return refuse("only one pair of brackets is possible");
        return node;
    }

private:
    template <class... Args>
    std::unexpected<Error> refuse(fmt::format_string<Args...> why, Args&&... args) const {
        return fail(
            refusal::invalid_feature.with(" {}: {}", quoted(text_), fmt::format(why, std::forward<Args>(args)...)));
    }

    // x|y|z
    Result<Node> any() {
        SPUR_TRY(auto first, all());
        if (peek() != '|') return first;
        Node node{.kind = Kind::any, .parts = {std::move(first)}};
        while (accept('|')) {
            SPUR_TRY(node.parts.emplace_back(), all());
        }
        if (brackets_in(node) > 0) return refuse("| cannot stand beside brackets");
        return node;
    }

    // x&y&z
    Result<Node> all() {
        SPUR_TRY(auto first, term());
        if (peek() != '&' && peek() != ',') return first;
        Node node{.kind = Kind::all, .parts = {std::move(first)}};
        while (accept('&') || accept(',')) {
            SPUR_TRY(node.parts.emplace_back(), term());
        }
        return node;
    }

    Result<Node> term() {
        if (depth_ >= max_depth) return refuse("it is nested more than {} deep", max_depth);
        if (accept('[')) return bracket();
        if (accept('(')) {
            ++depth_;
            SPUR_TRY(auto node, any());
            --depth_;
            if (!accept(')')) return refuse("a parenthesis is not closed");
            return with_count(std::move(node));
        }
        const auto begin = position_;
        while (position_ < text_.size() && !is_special(text_[position_])) ++position_;
        if (begin == position_) return refuse("a feature is missing at position {}", begin + 1);
        return with_count({.kind = Kind::feature, .feature = std::string{text_.substr(begin, position_ - begin)}});
    }

    Result<Node> with_count(Node node) {
        if (!accept('*')) return node;
        if (brackets_in(node) > 0) return refuse("a count belongs inside the brackets");
        const auto begin = position_;
        while (is_digit(peek())) ++position_;
        const auto count = find_unsigned(text_.substr(begin, position_ - begin));
        if (!count || *count == 0 || *count > std::numeric_limits<std::uint32_t>::max())
            return refuse("after * goes a number of nodes above 0");
        node.count = static_cast<std::uint32_t>(*count);
        return node;
    }

    // [rack1|rack2] or [rack1*2&rack2*4]; the opening bracket has been read
    Result<Node> bracket() {
        if (in_bracket_) return refuse("a bracket is inside a bracket");
        in_bracket_ = true;
        SPUR_TRY(auto inner, any());
        in_bracket_ = false;
        if (!accept(']')) return refuse("a bracket is not closed");
        const auto has_count = [](const Node& part) { return part.count > 0; };
        if (inner.count > 0) return Node{.kind = Kind::mixed, .parts = {std::move(inner)}};
        if (inner.kind == Kind::all) {
            if (!std::ranges::all_of(inner.parts, has_count))
                return refuse("& inside brackets needs a count for each part, as in [rack1*2&rack2*4]");
            inner.kind = Kind::mixed;
            return inner;
        }
        if (inner.kind == Kind::any) {
            if (std::ranges::any_of(inner.parts, has_count)) return refuse("| inside brackets takes no counts");
            inner.kind = Kind::same;
            return inner;
        }
        return Node{.kind = Kind::same, .parts = {std::move(inner)}};
    }

    static bool is_special(char c) {
        return is_blank(c) || std::string_view{"&|,*()[]!"}.find(c) != std::string_view::npos ||
               static_cast<unsigned char>(c) < 0x20;
    }
    char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
    bool accept(char c) {
        if (peek() != c) return false;
        ++position_;
        return true;
    }

    std::string_view text_;
    std::size_t position_{};
    int depth_{};
    bool in_bracket_{};
};

void collect_features(const Node& node, std::vector<std::string>& out) {
    if (node.kind == Kind::feature) out.push_back(node.feature);
    for (const auto& part : node.parts) collect_features(part, out);
}

void collect_counts(const Node& node, std::vector<Constraint::Count>& out) {
    if (node.count > 0) {
        auto what = node;
        what.count = 0;
        out.push_back({std::move(what), node.count});
    } else if (node.kind == Kind::all || node.kind == Kind::mixed) {
        for (const auto& part : node.parts) collect_counts(part, out);
    }
}

const Node* find_same(const Node& node) {
    if (node.kind == Kind::same) return &node;
    if (node.kind != Kind::all) return nullptr;
    for (const auto& part : node.parts)
        if (const auto* found = find_same(part)) return found;
    return nullptr;
}

std::string print(const Node& node, bool needs_parentheses) {
    if (node.kind == Kind::feature) return node.count ? fmt::format("{}*{}", node.feature, node.count) : node.feature;
    const bool is_bracket = node.kind == Kind::same || node.kind == Kind::mixed;
    const char separator = node.kind == Kind::all || node.kind == Kind::mixed ? '&' : '|';
    std::string text;
    for (const auto& part : node.parts) {
        if (!text.empty()) text += separator;
        text += print(part, true);
    }
    if (is_bracket) return fmt::format("[{}]", text);
    if (node.count) return fmt::format("({})*{}", text, node.count);
    return needs_parentheses ? fmt::format("({})", text) : text;
}

}  // namespace

Result<Constraint> Constraint::parse(std::string_view text) {
    Constraint constraint;
    if (text.empty()) return constraint;
    SPUR_TRY(auto root, Parser{text}.parse());
    constraint.root_ = std::make_shared<const Node>(std::move(root));
    return constraint;
}

bool Constraint::matches(const Node& node, const HasFeature& has) {
    const auto part_matches = [&](const Node& part) { return matches(part, has); };
    const auto part_serves = [&](const Node& part) {
        auto what = part;
        what.count = 0;
        return matches(what, has);
    };
    if (node.count > 0) return true;
    switch (node.kind) {
        case Kind::feature:
            return has(node.feature);
        case Kind::all:
            return std::ranges::all_of(node.parts, part_matches);
        case Kind::any:
        case Kind::same:
        case Kind::mixed:
            return std::ranges::any_of(node.parts, part_serves);
    }
    return false;
}

std::vector<Constraint::Node> Constraint::alternatives() const {
    const auto* same = root_ ? find_same(*root_) : nullptr;
    return same ? same->parts : std::vector<Node>{};
}

std::vector<Constraint::Count> Constraint::counts() const {
    std::vector<Count> result;
    if (root_) collect_counts(*root_, result);
    return result;
}

std::vector<std::string> Constraint::features() const {
    std::vector<std::string> result;
    if (root_) collect_features(*root_, result);
    std::ranges::sort(result);
    const auto repeats = std::ranges::unique(result);
    result.erase(repeats.begin(), repeats.end());
    return result;
}

std::string Constraint::str() const { return root_ ? print(*root_, false) : ""; }

bool Constraint::operator==(const Constraint& other) const {
    return root_ && other.root_ ? *root_ == *other.root_ : root_ == other.root_;
}

}  // namespace spur
