// Setting and removing variables, and carrying out what a task prolog printed.
#include "daemons/spurstepd/environment.hpp"

#include <algorithm>

namespace spur::step {

void Environment::put_all(const std::vector<std::string>& variables) {
    items_.reserve(items_.size() + variables.size());
    for (const auto& variable : variables) put(variable);
}

void Environment::put(std::string_view variable) {
    const auto equals = variable.find('=');
    if (equals == 0 || equals == std::string_view::npos || variable.find('\0') != std::string_view::npos) return;
    const auto [place, is_new] = places_.try_emplace(std::string{variable.substr(0, equals)}, items_.size());
    if (is_new)
        items_.emplace_back(variable);
    else
        items_[place->second] = variable;
}

void Environment::set(std::string_view key, std::string_view value) { put(std::string{key}.append("=").append(value)); }

void Environment::unset(std::string_view key) {
    const auto place = places_.find(std::string{key});
    if (place == places_.end()) return;
    items_[place->second].clear();
    places_.erase(place);
}

std::optional<std::string_view> Environment::find(std::string_view key) const {
    const auto place = places_.find(std::string{key});
    if (place == places_.end()) return std::nullopt;
    return std::string_view{items_[place->second]}.substr(key.size() + 1);
}

std::vector<std::string> Environment::variables() const {
    std::vector<std::string> list;
    std::ranges::copy_if(items_, std::back_inserter(list), [](const auto& item) { return !item.empty(); });
    return list;
}

std::string apply_prolog_output(std::string_view output, Environment& environment) {
    std::string printed;
    while (!output.empty()) {
        const auto end = output.find('\n');
        const auto line = output.substr(0, end);
        output.remove_prefix(end == std::string_view::npos ? output.size() : end + 1);
        const auto word_end = line.find(' ');
        if (word_end == std::string_view::npos) continue;
        const auto word = line.substr(0, word_end);
        auto rest = line.substr(word_end);
        rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
        if (word == "export") environment.put(rest);
        if (word == "unset") environment.unset(rest);
        if (word == "print") printed.append(rest).append("\n");
    }
    return printed;
}

}  // namespace spur::step
