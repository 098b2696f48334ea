// spur/plugin/plugin.hpp - C++ sugar over the C headers. Header only, C++20, no dependencies.
//
//   struct Mine { ... };                                       // your instance, plain C++
//   spur_status plan(spur_plugin* self, ..., spur_error* err) {
//       return spur::plugin::guard(err, [&] { self_cast<Mine>(self).plan(...); return SPUR_OK; });
//   }
//   SPUR_PLUGIN(&desc)                                         // exports spur_module_v1()
//
// With -fno-exceptions all of it is there but what throws: Stop::throw_if, wait and sleep, and Store. There stopped(),
// spur_wait() and the C tables are what to use, guard() only calls, and option() of an undeclared key aborts.
#pragma once

#include <spur/plugin/clock.h>
#include <spur/plugin/config.h>
#include <spur/plugin/log.h>
#include <spur/plugin/module.h>
#include <spur/plugin/wait.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#ifdef __cpp_exceptions
#define SPUR_HAS_EXCEPTIONS 1
#include <cxxabi.h>
#else
#define SPUR_HAS_EXCEPTIONS 0
#endif

namespace spur::plugin {

// Throw this from inside a guard to choose the status; any other exception becomes SPUR_E_INTERNAL.
struct Failure : std::exception {
    Failure(spur_status status, std::string sentence) : code(status), text(std::move(sentence)) {}
    const char* what() const noexcept override { return text.c_str(); }
    spur_status code;
    std::string text;
};

// Fill a caller-owned error; cut at the end of the buffer, never inside a UTF-8 character.
inline spur_status fail(spur_error* err, spur_status code, std::string_view text) noexcept {
    if (err != nullptr && SPUR_HAS(spur_error, err, text)) {
        err->code = code;
        std::size_t length = text.size() < sizeof(err->text) - 1 ? text.size() : sizeof(err->text) - 1;
        if (length < text.size())
            while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;
        std::memcpy(err->text, text.data(), length);
        err->text[length] = '\0';
    }
    return code;
}

// Exceptions stop here. A thread that is being ended (pthread_exit, pthread_cancel) goes on ending: that is for threads
// of the plugin's own. On one of the host's it ends the daemon, with a line that names the plugin.
#if SPUR_HAS_EXCEPTIONS
template <class Body>
spur_status guard(spur_error* err, Body&& body) {
    try {
        return std::forward<Body>(body)();
#ifdef __GLIBCXX__
    } catch (const ::abi::__forced_unwind&) {
        throw;
#endif
    } catch (const Failure& failure) {
        return fail(err, failure.code, failure.text);
    } catch (const std::exception& broken) {
        return fail(err, SPUR_E_INTERNAL, broken.what());
    } catch (...) {
        return fail(err, SPUR_E_INTERNAL, "an exception of unknown type");
    }
}
#else
template <class Body>
spur_status guard(spur_error*, Body&& body) {
    return std::forward<Body>(body)();
}
#endif

// spur_plugin is whatever the plugin says it is.
template <class T>
T& self_cast(spur_plugin* self) noexcept {
    return *reinterpret_cast<T*>(self);
}
template <class T>
spur_plugin* as_plugin(T* instance) noexcept {
    return reinterpret_cast<spur_plugin*>(instance);
}

// ---- answering ------------------------------------------------------------------------------------------------------

// Into memory of the host's, as much of it as there is: see SPUR_PUT.
template <class T>
void put(T* out, const T& answer) noexcept {
    SPUR_PUT(out, &answer);
}
template <class T>
void put_at(T* out, std::uint32_t stride, std::size_t i, const T& answer) noexcept {
    SPUR_PUT_AT(out, stride, i, &answer);
}

// ---- looking ------------------------------------------------------------------------------------------------------

inline std::string_view view(spur_str text) noexcept { return {text.data == nullptr ? "" : text.data, text.length}; }
inline spur_str str(std::string_view text) noexcept {
    return {text.data(), static_cast<std::uint32_t>(text.size()), 0};
}

// A span as a range of T: steps by the host's stride, so a record longer than ours is no trouble.
template <class T>
class Records {
public:
    explicit Records(const spur_span& span) noexcept : span_(span) {}
    class iterator {
    public:
        using value_type = T;
        using difference_type = std::ptrdiff_t;
        iterator() = default;
        iterator(const char* at, std::uint32_t stride) noexcept : at_(at), stride_(stride) {}
        const T& operator*() const noexcept { return *reinterpret_cast<const T*>(at_); }
        const T* operator->() const noexcept { return &**this; }
        iterator& operator++() noexcept { return at_ += stride_, *this; }
        iterator operator++(int) noexcept {
            auto before = *this;
            ++*this;
            return before;
        }
        bool operator==(const iterator& other) const noexcept { return at_ == other.at_; }

    private:
        const char* at_ = nullptr;
        std::uint32_t stride_ = 0;
    };
    iterator begin() const noexcept { return {static_cast<const char*>(span_.data), span_.stride}; }
    iterator end() const noexcept {
        return {static_cast<const char*>(span_.data) + std::size_t{span_.stride} * span_.count, span_.stride};
    }
    std::uint32_t size() const noexcept { return span_.count; }
    bool empty() const noexcept { return span_.count == 0; }
    const T& operator[](std::uint32_t i) const noexcept { return *SPUR_AT(T, span_, i); }

private:
    spur_span span_;
};

template <class T>
spur_span span_of(const T* data, std::size_t count) noexcept {
    return {data, static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(sizeof(T))};
}
template <class Container>
spur_span span_of(const Container& items) noexcept {
    return span_of(items.data(), items.size());
}

inline bool has_bit(const spur_bits& bits, std::uint32_t i) noexcept {
    return i < bits.count && bits.words != nullptr && (bits.words[i / 64] >> (i % 64) & 1u) != 0;
}

// ---- stopping -----------------------------------------------------------------------------------------------------

// Has the host asked this call to give up? throw_if() leaves it the way the host expects.
class Stop {
public:
    explicit Stop(const spur_stop* stop) noexcept : stop_(stop) {}
    bool stopped() const noexcept { return stop_->stopped(stop_) != 0; }
#if SPUR_HAS_EXCEPTIONS
    void throw_if() const {
        if (stopped()) throw Failure(SPUR_E_STOPPED, "stopped because the daemon asked for it");
    }
    // True once `fd` has one of `events`; false when the time is up (-1: never). Throws when stopped.
    bool wait(int fd, short events, int timeout_ms) const {
        const auto came_to = spur_wait(stop_, fd, events, timeout_ms);
        if (came_to == SPUR_E_IO) throw Failure(SPUR_E_IO, "cannot wait for a descriptor");
        if (came_to == SPUR_E_STOPPED) throw_if();
        return came_to == 1;
    }
    // Throws when stopped before the time is up.
    void sleep(int milliseconds) const { wait(-1, 0, milliseconds); }
#endif
    const spur_stop* get() const noexcept { return stop_; }

private:
    const spur_stop* stop_;
};

// ---- options ------------------------------------------------------------------------------------------------------

// The value of an option the plugin declared; asking for another is a bug in the plugin.
inline const spur_config_value& option(const spur_config* config, const char* key) {
    const auto* value = spur_config_find(config, key);
    if (value == nullptr) {
#if SPUR_HAS_EXCEPTIONS
        throw Failure(SPUR_E_INTERNAL, std::string("option ") + key + " was not declared");
#else
        std::fprintf(stderr, "option %s was not declared\n", key);
        std::abort();
#endif
    }
    return *value;
}

// ---- services -----------------------------------------------------------------------------------------------------

template <class Table>
const Table* service(const spur_host* host, const char* id) noexcept {
    return static_cast<const Table*>(host->service(host, id));
}

// The log, or silence where the host has none.
class Log {
public:
    explicit Log(const spur_host* host) noexcept : log_(service<spur_log>(host, SPUR_LOG_SERVICE)) {}
    void error(std::string_view text) const noexcept { write(SPUR_LOG_ERROR, text); }
    void warning(std::string_view text) const noexcept { write(SPUR_LOG_WARNING, text); }
    void info(std::string_view text) const noexcept { write(SPUR_LOG_INFO, text); }
    void debug(std::string_view text) const noexcept { write(SPUR_LOG_DEBUG, text); }

private:
    void write(std::uint32_t level, std::string_view text) const noexcept {
        if (log_ != nullptr) log_->write(log_, level, str(text));
    }
    const spur_log* log_;
};

// A sink that appends to a string, for calling services and other plugins.
class StringSink {
public:
    StringSink() noexcept : sink_{sizeof(spur_sink), 0, this, &append} {}
    StringSink(const StringSink&) = delete;
    StringSink& operator=(const StringSink&) = delete;
    const spur_sink* get() const noexcept { return &sink_; }
    std::string text;

private:
    static spur_status append(const spur_sink* sink, const void* data, std::uint64_t length) {
        return guard(nullptr, [&] {
            static_cast<StringSink*>(sink->context)->text.append(static_cast<const char*>(data), length);
            return SPUR_OK;
        });
    }
    spur_sink sink_;
};

// A fact about the daemon ("state_dir"), or `fallback` where the host does not know it.
inline std::string host_fact(const spur_host* host, const char* key, std::string fallback = {}) {
    const auto* facts = service<spur_config_service>(host, SPUR_CONFIG_SERVICE);
    StringSink sink;
    if (facts == nullptr || facts->get(facts, key, sink.get()) != SPUR_OK) return fallback;
    return std::move(sink.text);
}

inline spur_status push(const spur_sink* sink, std::string_view text) {
    return sink->write(sink, text.data(), text.size());
}

// ---- the boundary -------------------------------------------------------------------------------------------------

// create and destroy for an instance type with a constructor (const spur_host*, const spur_config*).
template <class Instance>
spur_status create(const spur_host* host, const spur_config* config, spur_plugin** out, spur_error* err) {
    return guard(err, [&] {
        *out = as_plugin(new Instance(host, config));
        return SPUR_OK;
    });
}
template <class Instance>
void destroy(spur_plugin* self) noexcept {
    delete reinterpret_cast<Instance*>(self);
}

}  // namespace spur::plugin

#include <spur/plugin/services.hpp>  // Notify, Executor, Metrics, Store

// SPUR_PLUGIN(desc, ...): export one or more spur_plugin_desc objects of static storage.
#define SPUR_PLUGIN(...)                                                                                        \
    extern "C" SPUR_EXPORT const spur_module* spur_module_v1(void) {                                            \
        static const spur_plugin_desc* const plugins[] = {__VA_ARGS__, nullptr};                                \
        static const spur_module module = {sizeof(spur_module), SPUR_ABI_EPOCH, SPUR_HEADERS_VERSION, plugins}; \
        return &module;                                                                                         \
    }
