// Reading, checking and making the key file.
#include "key.hpp"

#include <fcntl.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "files.hpp"

namespace spur::raftlog {
namespace {

constexpr std::size_t shortest = 32;  // characters
constexpr std::size_t longest = 4096;

Outcome<void> make_key(const std::string& path) {
    std::array<std::uint8_t, 32> secret{};
    if (RAND_bytes(secret.data(), secret.size()) != 1) return fault(SPUR_E_IO, "no random numbers for {}", path);
    std::string text;
    for (const auto byte : secret) text += fmt::format("{:02x}", byte);
    return write_durably(path, text + "\n");
}

Outcome<std::string> read_secret(const Descriptor& file, const std::string& path) {
    struct stat info {};
    if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode))
        return fault(SPUR_E_IO, "key file {} is not a file", path);
    if ((info.st_mode & 077) != 0)
        return fault(SPUR_E_DENIED, "key file {} can be read by others: run chmod 600 {}", path, path);
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return fault(SPUR_E_DENIED, "key file {} belongs to uid {}, not to us: run chown {} {}", path, info.st_uid,
                     geteuid(), path);
    std::string text(longest + 1, '\0');
    const auto length = read(file.get(), text.data(), text.size());
    if (length < 0) return fault(SPUR_E_IO, "cannot read key file {}: {}", path, std::strerror(errno));
    text.resize(static_cast<std::size_t>(length));
    while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.pop_back();
    if (text.size() < shortest || text.size() > longest)
        return fault(SPUR_E_INVALID, "key file {} holds {} characters: it takes {} to {}", path, text.size(), shortest,
                     longest);
    return text;
}

}  // namespace

Outcome<Key> load_key(const std::string& path, bool create) {
    Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file && errno == ENOENT && create) {
        SPUR_CHECK(make_key(path));
        file = Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    }
    if (!file && errno == ENOENT)
        return fault(SPUR_E_NOT_FOUND,
                     "key file {} is missing: the controllers prove themselves with it. On one: (umask 077; openssl "
                     "rand -hex 32 "
                     "> FILE), then copy it to the others",
                     path);
    if (!file) return fault(SPUR_E_IO, "cannot open key file {}: {}", path, std::strerror(errno));
    SPUR_TRY(const auto secret, read_secret(file, path));
    const auto labelled = "spur raft controllers 1\n" + secret;
    Key key{};
    SHA256(reinterpret_cast<const unsigned char*>(labelled.data()), labelled.size(), key.data());
    return key;
}

}  // namespace spur::raftlog
