// One instance of the plugin under test, and the usual surroundings of one.
#pragma once

#include "host.hpp"
#include "memory.hpp"
#include "module.hpp"
#include "options.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace spur::check {

inline constexpr std::chrono::seconds stop_patience{3};  // the headers say one; this machine may be busy

// An error buffer as callers bring it, and what the callee may do to it.
class ErrorBox {
public:
    explicit ErrorBox(Shape shape = {});
    spur_error* get() { return error_.get(); }
    std::string sentence() const;  // Failed if it is not terminated, or more than the box was written to
private:
    Output<spur_error> error_;
};

// A stop that the checker pulls.
class Stopper {
public:
    explicit Stopper(Shape shape = {});
    ~Stopper();
    Stopper(const Stopper&) = delete;
    Stopper& operator=(const Stopper&) = delete;
    const spur_stop* get() const { return table_; }
    void stop();

private:
    std::atomic<bool> stopped_ = false;
    int pipe_[2] = {-1, -1};
    Memory memory_;
    const spur_stop* table_;
};

// Failed unless a call whose stop was pulled before answers in time, with SPUR_E_STOPPED or because it was done.
template <class Call>
void expect_stopped(const char* name, const Stopper&, Call&& call) {
    const auto begun = std::chrono::steady_clock::now();
    const spur_status status = call();
    const auto took = std::chrono::steady_clock::now() - begun;
    require(status == SPUR_E_STOPPED || status >= 0, "{} that was stopped answered {}, not SPUR_E_STOPPED", name,
            status);
    require(took < stop_patience, "{} returned {} ms after it was stopped; a second is the most", name,
            took / std::chrono::milliseconds(1));
}

class Instance {
public:
    // Skipped where create() answers SPUR_E_UNAVAILABLE, Failed where it answers with another error.
    Instance(const spur_plugin_desc& desc, TestHost& host, const spur_config* config);
    ~Instance();
    Instance(const Instance&) = delete;
    Instance& operator=(const Instance&) = delete;

    spur_plugin* self() const { return self_; }
    const spur_plugin_desc& desc() const { return desc_; }
    template <class Ops>
    const Ops& ops(const char* interface) const {
        const auto* table = desc_.query(self_, interface);
        require(table != nullptr, "query(\"{}\") returned NULL", interface);
        return *static_cast<const Ops*>(table);
    }

    // Something the axis's cases keep beside the instance until it is destroyed, such as its listener.
    template <class T>
    T& accompany(std::shared_ptr<T> companion) {
        companion_ = companion;
        return *companion;
    }
    template <class T>
    T* companion() const {
        return static_cast<T*>(companion_.get());
    }

private:
    std::shared_ptr<void> companion_;
    const spur_plugin_desc& desc_;
    TestHost& host_;
    spur_plugin* self_ = nullptr;
};

// create() as such: the status, and the promises about *out and err that hold either way.
struct Created {
    spur_status status;
    spur_plugin* self;
    std::string sentence;
};
Created try_create(const spur_plugin_desc& desc, const spur_host* host, const spur_config* config);

// Module, host, configuration and instance in one: what most cases begin with.
class Bench {
public:
    explicit Bench(const Subject& subject, Shape shape = {}, TestHost::Services services = TestHost::Services::all);

    Instance& instance() { return *instance_; }
    spur_plugin* self() { return instance_->self(); }
    TestHost& host() { return host_; }
    const spur_plugin_desc& desc() const { return desc_; }
    template <class Ops>
    const Ops& ops(const char* interface) {
        return instance_->ops<Ops>(interface);
    }
    void finish();  // destroys the instance and judges the host's services

private:
    Module module_;
    const spur_plugin_desc& desc_;
    TestHost host_;
    std::optional<Instance> instance_;
};

// The sentence in `err` for a call that failed; Failed if `status` is one and there is none.
std::string sentence_of(const char* call, spur_status status, const ErrorBox& err);
// Failed unless `status` is SPUR_OK; Skipped for SPUR_E_UNAVAILABLE and SPUR_E_UNSUPPORTED.
void expect_ok(const char* call, spur_status status, const ErrorBox& err);

}  // namespace spur::check
