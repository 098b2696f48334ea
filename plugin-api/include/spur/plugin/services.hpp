// spur/plugin/services.hpp - C++ sugar over the host's services; a part of plugin.hpp, which includes it. Each does
// without where the host has no such service.
#pragma once

#include <spur/plugin/executor.h>
#include <spur/plugin/metrics.h>
#include <spur/plugin/notify.h>
#include <spur/plugin/store.h>
#include <spur/plugin/plugin.hpp>

#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace spur::plugin {

// Tells the daemon that something changed, or nobody where the host has no ears for it.
class Notify {
public:
    explicit Notify(const spur_host* host) noexcept : notify_(service<spur_notify>(host, SPUR_NOTIFY_SERVICE)) {}
    // True if something in this daemon depends on it.
    bool changed(std::uint32_t what, std::string_view subject, std::string_view reason) const noexcept {
        return notify_ != nullptr && notify_->changed(notify_, what, str(subject), str(reason)) == SPUR_OK;
    }

private:
    const spur_notify* notify_;
};

// Work off the calling thread. Functions are kept until they have run, or will not any more; exceptions end in the log.
class Executor {
public:
    explicit Executor(const spur_host* host) noexcept
        : executor_(service<spur_executor>(host, SPUR_EXECUTOR_SERVICE)), log_(host) {}
    explicit operator bool() const noexcept { return executor_ != nullptr; }

    // Soon, on a thread shared with other plugins: it must not wait.
    spur_status post(std::function<void()> run) const {
        return hand_over(std::move(run), [&](auto* kept) { return executor_->post(executor_, run_once, drop, kept); });
    }
    // Soon, where it may wait until it is stopped.
    spur_status post_blocking(std::function<void(const Stop&)> run) const {
        return hand_over(std::move(run), [&](auto* kept) {
            return executor_->post_blocking(executor_, run_blocking, drop_as<Kept<void(const Stop&)>>, kept);
        });
    }
    spur_status post_after(std::int64_t delay_ns, std::function<void()> run, std::uint64_t* id = nullptr) const {
        return hand_over(std::move(run), [&](auto* kept) {
            return executor_->post_after(executor_, delay_ns, run_once, drop, kept, id);
        });
    }
    spur_status post_every(std::int64_t period_ns, std::function<void()> run, std::uint64_t* id = nullptr) const {
        return hand_over(std::move(run), [&](auto* kept) {
            return executor_->post_every(executor_, period_ns, run_again, drop, kept, id);
        });
    }
    // `run` is given SPUR_WATCH_*, again and again until cancel().
    spur_status watch_fd(int fd, std::uint32_t events, std::function<void(std::uint32_t)> run,
                         std::uint64_t* id = nullptr) const {
        return hand_over(std::move(run), [&](auto* kept) {
            return executor_->watch_fd(executor_, fd, events, run_watch, drop_as<Kept<void(std::uint32_t)>>, kept, id);
        });
    }
    bool cancel(std::uint64_t id) const noexcept {
        return executor_ != nullptr && executor_->cancel(executor_, id) != 0;
    }

private:
    template <class Signature>
    struct Kept {
        std::function<Signature> run;
        Log log;
    };
    template <class Signature, class Post>
    spur_status hand_over(std::function<Signature> run, const Post& post) const {
        if (executor_ == nullptr) return SPUR_E_UNAVAILABLE;
        auto kept = std::make_unique<Kept<Signature>>(Kept<Signature>{std::move(run), log_});
        const auto status = post(kept.get());
        if (status == SPUR_OK) static_cast<void>(kept.release());  // run or dropped by the host
        return status;
    }
    template <class Signature, class... Args>
    static void call(Kept<Signature>& kept, Args&&... args) noexcept {
        spur_error err{sizeof(spur_error), SPUR_OK, ""};
        const auto status = guard(&err, [&] { return kept.run(std::forward<Args>(args)...), SPUR_OK; });
        if (status != SPUR_OK) kept.log.error(std::string("a task failed: ") + err.text);
    }
    template <class T>
    static void drop_as(void* kept) {
        delete static_cast<T*>(kept);
    }
    static void drop(void* kept) { drop_as<Kept<void()>>(kept); }
    static void run_again(void* kept) { call(*static_cast<Kept<void()>*>(kept)); }
    static void run_once(void* kept) { run_again(kept), drop(kept); }
    static void run_watch(void* kept, std::uint32_t events) {
        call(*static_cast<Kept<void(std::uint32_t)>*>(kept), events);
    }
    static void run_blocking(void* kept, const spur_stop* stop) {
        call(*static_cast<Kept<void(const Stop&)>*>(kept), Stop(stop));
        drop_as<Kept<void(const Stop&)>>(kept);
    }

    const spur_executor* executor_;
    Log log_;
};

// Numbers to plot. Handle 0 stands for "the host has no metrics": updating it does nothing.
class Metrics {
public:
    explicit Metrics(const spur_host* host) noexcept : metrics_(service<spur_metrics>(host, SPUR_METRICS_SERVICE)) {}
    std::uint32_t counter(std::string_view name, std::string_view help) const {
        return define(SPUR_METRIC_COUNTER, name, help, {});
    }
    std::uint32_t gauge(std::string_view name, std::string_view help) const {
        return define(SPUR_METRIC_GAUGE, name, help, {});
    }
    std::uint32_t histogram(std::string_view name, std::string_view help) const {
        return define(SPUR_METRIC_HISTOGRAM, name, help, {});
    }
    // With labels: add to and set the handles that series() gives.
    std::uint32_t define(std::uint32_t kind, std::string_view name, std::string_view help,
                         std::initializer_list<std::string_view> labels) const {
        if (metrics_ == nullptr) return 0;
        const auto names = texts(labels);
        spur_metric metric{};
        metric.size = sizeof metric;
        metric.kind = kind;
        metric.name = str(name);
        metric.help = str(help);
        metric.labels = span_of(names);
        return metrics_->define(metrics_, &metric);
    }
    std::uint32_t series(std::uint32_t metric, std::initializer_list<std::string_view> values) const {
        const auto given = texts(values);
        return metrics_ == nullptr ? 0 : metrics_->series(metrics_, metric, span_of(given));
    }
    void forget(std::uint32_t series) const {
        if (metrics_ != nullptr) metrics_->forget(metrics_, series);
    }
    void add(std::uint32_t series, double amount = 1) const noexcept {
        if (series != 0) metrics_->add(metrics_, series, amount);
    }
    void set(std::uint32_t series, double value) const noexcept {
        if (series != 0) metrics_->set(metrics_, series, value);
    }

private:
    static std::vector<spur_str> texts(std::initializer_list<std::string_view> all) {
        std::vector<spur_str> out;
        for (const auto text : all) out.push_back(str(text));
        return out;
    }
    const spur_metrics* metrics_;
};

#if SPUR_HAS_EXCEPTIONS
// What must outlive a restart. Throws where it fails; without a store nothing is found and nothing kept.
class Store {
public:
    explicit Store(const spur_host* host) noexcept : store_(service<spur_store>(host, SPUR_STORE_SERVICE)) {}
    explicit operator bool() const noexcept { return store_ != nullptr; }
    std::optional<std::string> get(std::string_view key) const {
        StringSink sink;
        if (store_ == nullptr ||
            done([&](spur_error* err) { return store_->get(store_, str(key), sink.get(), err); }) == SPUR_E_NOT_FOUND)
            return std::nullopt;
        return std::move(sink.text);
    }
    void put(std::string_view key, std::string_view value) const {
        change({SPUR_STORE_PUT, 0, str(key), {value.data(), value.size()}});
    }
    void remove(std::string_view key) const { change({SPUR_STORE_REMOVE, 0, str(key), {}}); }

private:
    void change(const spur_store_change& one) const {
        if (store_ != nullptr) done([&](spur_error* err) { return store_->change(store_, span_of(&one, 1), err); });
    }
    template <class Call>
    static spur_status done(const Call& call) {
        spur_error err{sizeof(spur_error), SPUR_OK, ""};
        const auto status = call(&err);
        if (status < 0 && status != SPUR_E_NOT_FOUND) throw Failure(status, err.text);
        return status;
    }
    const spur_store* store_;
};
#endif

}  // namespace spur::plugin
