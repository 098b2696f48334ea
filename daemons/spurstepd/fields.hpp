// Tagged fields, for what spurd and spurstepd tell each other: unknown tags are skipped and missing ones keep their
// defaults, so a step daemon started by one release understands the next one's spurd.
//
// A field is a varint key (tag * 2 + kind) and then a varint (kind 0) or a length and so many bytes (kind 1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace spur::step {

class FieldWriter {
public:
    void number(std::uint32_t tag, std::uint64_t value) {
        if (value == 0) return;
        varint(std::uint64_t{tag} * 2);
        varint(value);
    }
    void text(std::uint32_t tag, std::string_view value) {
        if (!value.empty()) item(tag, value);
    }
    // An element of a list: written even when it is empty.
    void item(std::uint32_t tag, std::string_view value) {
        varint(std::uint64_t{tag} * 2 + 1);
        varint(value.size());
        bytes_.append(value);
    }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    void varint(std::uint64_t value) {
        while (value >= 0x80) {
            bytes_.push_back(static_cast<char>(value | 0x80));
            value >>= 7;
        }
        bytes_.push_back(static_cast<char>(value));
    }
    std::string bytes_;
};

struct Field {
    std::uint32_t tag{};
    std::uint64_t number{};  // kind 0
    std::string_view text;   // kind 1; points into the bytes being read
};

class FieldReader {
public:
    explicit FieldReader(std::string_view bytes) : rest_{bytes} {}

    // The next field; nothing at the end, and nothing when the bytes make no sense: ask is_whole() which.
    std::optional<Field> next() {
        if (rest_.empty()) return std::nullopt;
        std::uint64_t key{};
        Field field;
        if (!varint(key) || key >> 1 > 0xffff) return broken();
        field.tag = static_cast<std::uint32_t>(key >> 1);
        std::uint64_t value{};
        if (!varint(value)) return broken();
        if ((key & 1) == 0) {
            field.number = value;
            return field;
        }
        if (value > rest_.size()) return broken();
        field.text = rest_.substr(0, value);
        rest_.remove_prefix(value);
        return field;
    }
    [[nodiscard]] bool is_whole() const { return whole_ && rest_.empty(); }

private:
    std::nullopt_t broken() {
        whole_ = false;
        return std::nullopt;
    }
    bool varint(std::uint64_t& value) {
        for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7fU} << shift;
            if (byte < 0x80) return true;
        }
        return false;
    }
    std::string_view rest_;
    bool whole_{true};
};

}  // namespace spur::step
