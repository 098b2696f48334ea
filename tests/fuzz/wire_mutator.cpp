#include "tests/fuzz/wire_mutator.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t longest);

namespace spur::fuzz {

namespace {

using Dice = std::minstd_rand;

std::size_t below(Dice& dice, std::size_t limit) { return dice() % limit; }

bool take_varint(std::string_view& from, std::uint64_t& value) {
    value = 0;
    for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
        const auto byte = static_cast<std::uint8_t>(from.front());
        from.remove_prefix(1);
        value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

void put_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    out += static_cast<char>(value);
}

bool take_fixed(std::string_view& from, std::size_t size, std::uint64_t& value) {
    if (from.size() < size) return false;
    value = 0;
    std::memcpy(&value, from.data(), size);
    from.remove_prefix(size);
    return true;
}

std::uint64_t odd_number(Dice& dice) {
    static constexpr std::uint64_t odd[] = {0,          1,          2,          3,           60,         255,
                                            65535,      65536,      0x7fffffff, 0x80000000,  0xfffffffa, 0xfffffffb,
                                            0xfffffffc, 0xfffffffe, 0xffffffff, 0x100000000, INT64_MAX,  UINT64_MAX};
    return below(dice, 3) == 0 ? below(dice, 1000) : odd[below(dice, std::size(odd))];
}

// The fuzzer's own change of some bytes: it knows which words the program compares with.
std::string changed(std::string_view bytes, std::size_t longest) {
    std::string buffer{bytes.substr(0, longest)};
    const auto size = buffer.size();
    buffer.resize(std::max(longest, size));
    if (buffer.empty()) return buffer;
    buffer.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(buffer.data()), size, buffer.size()));
    return buffer;
}

Field new_field(Dice& dice) {
    Field field{.number = static_cast<std::uint32_t>(1 + below(dice, below(dice, 4) == 0 ? 100 : 20))};
    field.kind = below(dice, 2) == 0 ? Field::bytes : Field::varint;
    if (field.kind == Field::varint)
        field.value = odd_number(dice);
    else
        field.text = changed("", 1 + below(dice, 16));
    return field;
}

void change_value(Field& field, Dice& dice, std::size_t room) {
    if (field.kind != Field::bytes) {
        field.value = below(dice, 2) == 0 ? odd_number(dice) : field.value + (below(dice, 2) == 0 ? 1 : -1);
        return;
    }
    const auto nested = read_fields(field.text);
    if (nested && !nested->empty() && below(dice, 8) != 0)
        field.text = mutated(field.text, dice, field.text.size() + room);
    else
        field.text = changed(field.text, field.text.size() + std::min<std::size_t>(room, 64));
}

}  // namespace

std::optional<std::vector<Field>> read_fields(std::string_view message) {
    std::vector<Field> fields;
    while (!message.empty()) {
        std::uint64_t tag = 0;
        if (!take_varint(message, tag) || tag >> 3 == 0 || tag >> 32 != 0) return std::nullopt;
        Field field{.number = static_cast<std::uint32_t>(tag >> 3), .kind = static_cast<Field::Kind>(tag & 7)};
        bool good = false;
        if (field.kind == Field::varint) {
            good = take_varint(message, field.value);
        } else if (field.kind == Field::fixed64) {
            good = take_fixed(message, 8, field.value);
        } else if (field.kind == Field::fixed32) {
            good = take_fixed(message, 4, field.value);
        } else if (field.kind == Field::bytes) {
            std::uint64_t length = 0;
            good = take_varint(message, length) && length <= message.size();
            if (good) {
                field.text = message.substr(0, length);
                message.remove_prefix(length);
            }
        }
        if (!good) return std::nullopt;
        fields.push_back(std::move(field));
    }
    return fields;
}

std::string write_fields(const std::vector<Field>& fields) {
    std::string out;
    for (const auto& field : fields) {
        put_varint(out, static_cast<std::uint64_t>(field.number) << 3 | field.kind);
        if (field.kind == Field::varint) {
            put_varint(out, field.value);
        } else if (field.kind == Field::bytes) {
            put_varint(out, field.text.size());
            out += field.text;
        } else {
            out.append(reinterpret_cast<const char*>(&field.value), field.kind == Field::fixed64 ? 8 : 4);
        }
    }
    return out;
}

std::string mutated(std::string_view message, Dice& dice, std::size_t longest) {
    auto fields = read_fields(message);
    if (!fields) return changed(message, longest);
    if (fields->empty()) fields->push_back(new_field(dice));
    const auto at = below(dice, fields->size());
    auto& field = (*fields)[at];
    const auto room = longest > message.size() ? longest - message.size() : 0;
    switch (below(dice, 16)) {
        case 0:
            fields->erase(fields->begin() + static_cast<std::ptrdiff_t>(at));
            break;
        case 1:
            fields->push_back(Field{field});
            break;
        case 2:
            std::swap(field, (*fields)[below(dice, fields->size())]);
            break;
        case 3:
        case 4:
            fields->insert(fields->begin() + static_cast<std::ptrdiff_t>(at), new_field(dice));
            break;
        case 5:
            field.number = new_field(dice).number;
            break;
        default:
            change_value(field, dice, room);
            break;
    }
    auto out = write_fields(*fields);
    return out.size() <= longest ? out : std::string{message};
}

}  // namespace spur::fuzz

std::size_t mutate_message(std::uint8_t* data, std::size_t size, std::size_t longest, unsigned seed) {
    std::minstd_rand dice{seed + 1};
    if (dice() % 16 == 0) return LLVMFuzzerMutate(data, size, longest);
    const auto out = spur::fuzz::mutated({reinterpret_cast<const char*>(data), size}, dice, longest);
    std::memcpy(data, out.data(), out.size());
    return out.size();
}
