// The format: a line that names it, then each key and value behind their lengths, then the SHA-256 of all that.
#include "daemons/common/host/plugin_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/sha256.hpp"
#include "core/text/lexical.hpp"

namespace spur::host {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view magic = "spur-store/1\n";
constexpr std::size_t digest_bytes = 32;
constexpr std::size_t most_file_bytes =
    magic.size() + SPUR_STORE_MOST_BYTES + std::size_t{SPUR_STORE_MOST_KEYS} * 8 + digest_bytes;

class File {
public:
    File(const fs::path& path, int flags) : fd_{::open(path.c_str(), flags | O_CLOEXEC, 0600)} {}
    ~File() {
        if (fd_ >= 0) ::close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    int fd() const { return fd_; }

private:
    int fd_;
};

std::unexpected<Error> io_failure(const char* what, const fs::path& path) {
    return fail(errno == EACCES ? ErrorCode::denied : ErrorCode::internal, "cannot {} {}: {}", what, path.native(),
                std::strerror(errno));
}

void put_length(std::string& out, std::size_t length) {
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(length >> shift & 0xFF);
}

std::string digest_of(std::string_view text) {
    const auto digest = sha256(text);
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string encode(const PluginStore::Values& values) {
    std::string out{magic};
    for (const auto& [key, value] : values) {
        put_length(out, key.size());
        put_length(out, value.size());
        out += key;
        out += value;
    }
    return out + digest_of(out);
}

std::optional<PluginStore::Values> decode(std::string_view text) {
    if (text.size() < magic.size() + digest_bytes || !text.starts_with(magic)) return std::nullopt;
    const auto body = text.substr(0, text.size() - digest_bytes);
    if (digest_of(body) != text.substr(body.size())) return std::nullopt;
    auto left = body.substr(magic.size());
    const auto take_length = [&] {
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4; ++i) length |= std::size_t{static_cast<unsigned char>(left[i])} << (8 * i);
        left.remove_prefix(4);
        return length;
    };
    PluginStore::Values values;
    while (left.size() >= 8) {
        const auto key = take_length(), value = take_length();
        if (key > left.size() || value > left.size() - key) return std::nullopt;
        values.emplace(left.substr(0, key), left.substr(key, value));
        left.remove_prefix(key + value);
    }
    return left.empty() ? std::optional{std::move(values)} : std::nullopt;
}

bool is_key(std::string_view key) {
    return !key.empty() && key.size() <= SPUR_STORE_MOST_KEY && std::ranges::all_of(key, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '.' || c == '_' || c == '-' ||
               c == '/';
    });
}

Result<void> check_limits(const PluginStore::Values& values) {
    std::size_t bytes = 0;
    for (const auto& [key, value] : values) bytes += key.size() + value.size();
    if (values.size() > SPUR_STORE_MOST_KEYS || bytes > SPUR_STORE_MOST_BYTES)
        return fail(ErrorCode::invalid,
                    "a plugin keeps at most {} keys and {} bytes here, and this would be {} and {}: what grows belongs "
                    "elsewhere",
                    SPUR_STORE_MOST_KEYS, SPUR_STORE_MOST_BYTES, values.size(), bytes);
    return {};
}

Result<void> write_durably(const fs::path& path, const std::string& text) {
    const auto draft = path.native() + ".new";
    {
        const File file{draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW};
        if (file.fd() < 0) return io_failure("write", draft);
        for (std::size_t at = 0; at < text.size();) {
            const auto wrote = ::write(file.fd(), text.data() + at, text.size() - at);
            if (wrote < 0 && errno != EINTR) return io_failure("write", draft);
            at += wrote > 0 ? static_cast<std::size_t>(wrote) : 0;
        }
        if (::fsync(file.fd()) != 0) return io_failure("write", draft);
    }
    if (::rename(draft.c_str(), path.c_str()) != 0) return io_failure("replace", path);
    const File directory{path.parent_path(), O_RDONLY | O_DIRECTORY};
    if (directory.fd() < 0 || ::fsync(directory.fd()) != 0) return io_failure("write", path.parent_path());
    return {};
}

}  // namespace

fs::path PluginStore::place(const fs::path& state_dir, const std::string& type) {
    auto name = type;
    std::ranges::replace(name, '/', '_');
    return state_dir / "plugins" / name / "store";
}

std::shared_ptr<PluginStore> PluginStore::at(const fs::path& file) {
    static std::mutex mutex;
    static auto* const open = new std::map<fs::path, std::weak_ptr<PluginStore>>;
    const std::lock_guard lock{mutex};
    auto& known = (*open)[file];
    auto store = known.lock();
    if (!store) known = store = std::make_shared<PluginStore>(file);
    return store;
}

Result<void> PluginStore::load() {
    const File file{file_, O_RDONLY | O_NOFOLLOW};
    if (file.fd() < 0 && errno != ENOENT) return io_failure("read", file_);
    if (file.fd() < 0) return values_ = std::make_shared<const Values>(), Result<void>{};
    std::string text(most_file_bytes + 1, '\0');
    std::size_t length = 0;
    for (ssize_t got = 1; got > 0 && length < text.size(); length += static_cast<std::size_t>(got))
        if (got = ::read(file.fd(), text.data() + length, text.size() - length); got < 0)
            return io_failure("read", file_);
    auto values = decode({text.data(), length});
    if (!values)
        return fail(ErrorCode::corrupt,
                    "{} is damaged; move it away, and the plugin begins without what it had kept there",
                    file_.native());
    values_ = std::make_shared<const Values>(std::move(*values));
    return {};
}

Result<std::shared_ptr<const PluginStore::Values>> PluginStore::values() {
    const std::lock_guard lock{mutex_};
    if (!values_) SPUR_CHECK(load());
    return values_;
}

Result<void> PluginStore::save(const Values& values) const {
    std::error_code error;
    for (const auto& directory : {file_.parent_path().parent_path(), file_.parent_path()})
        if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return io_failure("make", directory);
    return write_durably(file_, encode(values));
}

Result<void> PluginStore::change(const std::vector<Change>& changes) {
    const std::lock_guard lock{mutex_};
    if (!values_) SPUR_CHECK(load());
    auto fresh = *values_;
    for (const auto& change : changes) {
        if (!is_key(change.key))
            return fail(ErrorCode::invalid, "a key has 1 to {} of the bytes A-Z a-z 0-9 . _ - /, and {} does not",
                        SPUR_STORE_MOST_KEY, spur::quoted(change.key.substr(0, SPUR_STORE_MOST_KEY)));
        if (change.value && change.value->size() > SPUR_STORE_MOST_VALUE)
            return fail(ErrorCode::invalid, "a value has at most {} bytes, and that of {} has {}",
                        SPUR_STORE_MOST_VALUE, change.key, change.value->size());
        if (change.value)
            fresh.insert_or_assign(change.key, *change.value);
        else
            fresh.erase(change.key);
    }
    if (fresh == *values_) return {};
    SPUR_CHECK(check_limits(fresh));
    SPUR_CHECK(save(fresh));
    values_ = std::make_shared<const Values>(std::move(fresh));
    return {};
}

}  // namespace spur::host
