// Changes bytes that look like a protobuf message field by field, so that what comes out still reads as one: a value
// becomes another, fields come, go, move and are doubled, at any depth. Bytes that are no message are changed as bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace spur::fuzz {

struct Field {
    enum Kind : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
    std::uint32_t number{};
    Kind kind{varint};
    std::uint64_t value{};  // of a number
    std::string text;       // of bytes
};

std::optional<std::vector<Field>> read_fields(std::string_view message);
std::string write_fields(const std::vector<Field>& fields);

// One change somewhere in `message`.
std::string mutated(std::string_view message, std::minstd_rand& dice, std::size_t longest);

}  // namespace spur::fuzz

// For LLVMFuzzerCustomMutator.
std::size_t mutate_message(std::uint8_t* data, std::size_t size, std::size_t longest, unsigned seed);
