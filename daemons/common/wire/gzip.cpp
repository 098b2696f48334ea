// gzip by zlib.
#include "daemons/common/wire/gzip.hpp"

#include <zlib.h>

#include <algorithm>

namespace spur::wire {
namespace {

constexpr std::size_t worth_packing = 1024;  // a shorter message fits one packet as it is
constexpr int gzip_format = 15 + 16;         // zlib's way to say: the largest window, with gzip's header

Bytef* bytes_of(const char* text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text)); }

// zlib's state, and the function that frees it.
struct Stream : z_stream {
    explicit Stream(std::string_view input, int (*end)(z_stream*)) : z_stream{}, end_{end} {
        next_in = bytes_of(input.data());
        avail_in = static_cast<uInt>(input.size());
    }
    ~Stream() { end_(this); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    void put_into(char* out, std::size_t room) {
        next_out = bytes_of(out);
        avail_out = static_cast<uInt>(room);
    }

private:
    int (*end_)(z_stream*);
};

}  // namespace

std::string gzip(std::string_view message) {
    if (message.size() < worth_packing || message.size() > UINT32_MAX) return {};
    Stream stream{message, deflateEnd};
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, gzip_format, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
    std::string packed(message.size() - message.size() / 8, '\0');
    stream.put_into(packed.data(), packed.size());
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return {};
    packed.resize(stream.total_out);
    packed.shrink_to_fit();
    return packed;
}

RpcResult<std::string> gunzip(std::string_view packed, std::size_t max_bytes) {
    Stream stream{packed, inflateEnd};
    if (inflateInit2(&stream, gzip_format) != Z_OK)
        return rpc_fail(Status::resource_exhausted, "no memory to decompress a message");
    std::string message;
    while (true) {
        // One byte of room beyond the limit tells a message that just fits from one that goes on.
        const std::size_t room = std::min(std::max<std::size_t>(message.size(), 4096), max_bytes + 1 - message.size());
        const std::size_t had = message.size();
        message.resize(had + room);
        stream.put_into(message.data() + had, room);
        const int step = inflate(&stream, Z_NO_FLUSH);
        message.resize(had + room - stream.avail_out);
        if (message.size() > max_bytes)
            return rpc_fail(Status::resource_exhausted, "a compressed message holds more than the limit of {} bytes",
                            max_bytes);
        if (step == Z_STREAM_END && stream.avail_in == 0) return message;
        if (step != Z_OK || (stream.avail_in == 0 && stream.avail_out > 0))
            return rpc_fail(Status::internal, "a message is marked as gzip and is not, or not whole");
    }
}

}  // namespace spur::wire
