// A map from small numbers to values whose old versions stay valid: copying is O(1), a change copies one path of the
// tree. The read model is made of these, so readers keep what they hold while the engine goes on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace spur::planning {

// `Value` is cheap to copy (a shared_ptr) and its default means "absent". One writer edits between two freeze() calls;
// any number of threads read frozen copies.
template <class Value>
class PersistentMap {
    static constexpr unsigned bits = 5, fan = 1U << bits;
    struct Branch;
    struct Leaf;
    struct Base {
        std::uint64_t owner{};  // the edit session that may change it in place
        std::uint32_t count{};  // values below
    };
    struct Branch : Base {
        std::array<std::shared_ptr<Base>, fan> children;
    };
    struct Leaf : Base {
        std::array<Value, fan> values;
    };

public:
    std::size_t size() const { return root_ ? root_->count : 0; }
    explicit operator bool() const { return size() != 0; }  // so that maps can be values of another

    // The value at `key`, or Value{}.
    const Value& get(std::uint32_t key) const {
        static const Value absent{};
        const Base* at = is_within(key) ? root_.get() : nullptr;
        for (unsigned level = levels_; at != nullptr && --level > 0;)
            at = static_cast<const Branch*>(at)->children[slot(key, level)].get();
        return at == nullptr ? absent : static_cast<const Leaf*>(at)->values[slot(key, 0)];
    }

    void set(std::uint32_t key, Value value) {
        while (!is_within(key)) {
            if (auto below = std::exchange(root_, nullptr)) {
                auto& top = own<Branch>(root_);
                top.count = below->count;
                top.children[0] = std::move(below);
            }
            ++levels_;
        }
        edit(root_, levels_ - 1, key, std::move(value));
    }
    void erase(std::uint32_t key) {
        if (get(key)) edit(root_, levels_ - 1, key, Value{});
    }

    // Copies made from now on are for readers: the writer no longer touches what they can see.
    void freeze() { ++session_; }

    // f(key, value) in key order; f may return false to stop.
    template <class F>
    void for_each(F&& f) const {
        walk(root_.get(), levels_ - 1, 0, f);
    }

private:
    bool is_within(std::uint32_t key) const { return levels_ * bits >= 32 || key >> (levels_ * bits) == 0; }
    static unsigned slot(std::uint32_t key, unsigned level) { return key >> (level * bits) & (fan - 1); }

    // Sets one value below `at`; returns how the number of values changed.
    int edit(std::shared_ptr<Base>& at, unsigned level, std::uint32_t key, Value value) {
        int change = 0;
        if (level == 0) {
            auto& leaf = own<Leaf>(at);
            auto& place = leaf.values[slot(key, 0)];
            change = static_cast<int>(static_cast<bool>(value)) - static_cast<int>(static_cast<bool>(place));
            place = std::move(value);
        } else {
            auto& branch = own<Branch>(at);
            auto& child = branch.children[slot(key, level)];
            change = edit(child, level - 1, key, std::move(value));
            if (child->count == 0) child.reset();
        }
        at->count = static_cast<std::uint32_t>(static_cast<int>(at->count) + change);
        return change;
    }

    template <class Kind>
    Kind& own(std::shared_ptr<Base>& at) {
        if (!at || at->owner != session_) {
            auto copy = at ? std::make_shared<Kind>(static_cast<const Kind&>(*at)) : std::make_shared<Kind>();
            copy->owner = session_;
            at = std::move(copy);
        }
        return static_cast<Kind&>(*at);
    }

    template <class F>
    static bool walk(const Base* at, unsigned level, std::uint32_t prefix, F& f) {
        if (at == nullptr) return true;
        for (unsigned i = 0; i < fan; ++i) {
            const std::uint32_t key = prefix << bits | i;
            if (level > 0) {
                if (!walk(static_cast<const Branch*>(at)->children[i].get(), level - 1, key, f)) return false;
            } else if (const auto& value = static_cast<const Leaf*>(at)->values[i]; value) {
                if constexpr (std::is_void_v<decltype(f(key, value))>)
                    f(key, value);
                else if (!f(key, value))
                    return false;
            }
        }
        return true;
    }

    std::shared_ptr<Base> root_;
    unsigned levels_{1};  // as many as the largest key has needed
    std::uint64_t session_{1};
};

}  // namespace spur::planning
