// The environment a program gets: lists of KEY=VALUE laid over each other, the later ones winning.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace spur::step {

class Environment {
public:
    Environment() = default;
    explicit Environment(const std::vector<std::string>& variables) { put_all(variables); }

    void put_all(const std::vector<std::string>& variables);
    void put(std::string_view variable);  // "KEY=VALUE"; anything else is left out
    void set(std::string_view key, std::string_view value);
    void unset(std::string_view key);
    [[nodiscard]] std::optional<std::string_view> find(std::string_view key) const;

    // In the order keys were first seen.
    [[nodiscard]] std::vector<std::string> variables() const;

private:
    std::vector<std::string> items_;  // an empty one was unset
    std::unordered_map<std::string, std::size_t> places_;
};

// Carries out what a task prolog printed: "export NAME=value", "unset NAME", "print text". Returns what is to be
// printed.
std::string apply_prolog_output(std::string_view output, Environment& environment);

}  // namespace spur::step
