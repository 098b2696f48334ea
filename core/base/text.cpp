// Text: one allocation holds the counter, the size and the characters.
#include "core/base/text.hpp"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>

namespace spur {

struct Text::Body {
    std::atomic<std::uint32_t> owners{1};
    std::uint32_t size{};
    char* characters() { return reinterpret_cast<char*>(this + 1); }
};

Text::Body* Text::make(std::string_view text) {
    if (text.empty()) return nullptr;
    if (text.size() > UINT32_MAX) throw std::bad_alloc{};
    void* memory = ::operator new(sizeof(Body) + text.size());
    auto* body = new (memory) Body;
    body->size = static_cast<std::uint32_t>(text.size());
    std::memcpy(body->characters(), text.data(), text.size());
    return body;
}

std::string_view Text::view() const {
    return body_ ? std::string_view{body_->characters(), body_->size} : std::string_view{};
}

void Text::keep() const noexcept {
    if (body_) body_->owners.fetch_add(1, std::memory_order_relaxed);
}

void Text::drop() noexcept {
    if (body_ && body_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        body_->~Body();
        ::operator delete(body_);
    }
}

}  // namespace spur
