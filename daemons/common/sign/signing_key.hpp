// An Ed25519 key: whoever has it signs, everybody may have its public half and check.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.hpp"

namespace spur::sign {

class SigningKey {
public:
    static Result<SigningKey> make();
    // From the file that store() wrote. Refuses one that others can read.
    static Result<SigningKey> load(const std::string& path);
    // Whole or not at all, for this user's eyes only.
    Result<void> store(const std::string& path) const;

    [[nodiscard]] const std::string& public_key() const { return public_; }  // 32 bytes
    [[nodiscard]] Result<std::string> sign(std::string_view bytes) const;    // 64 bytes [any thread]

private:
    static Result<SigningKey> from_seed(std::string seed);
    struct Handle;
    std::shared_ptr<const Handle> handle_;
    std::string seed_, public_;
};

bool is_signed_by(std::string_view public_key, std::string_view bytes, std::string_view signature);

}  // namespace spur::sign
