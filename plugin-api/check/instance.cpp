// create() and destroy() with their promises checked.
#include "instance.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <utility>

namespace spur::check {

ErrorBox::ErrorBox(Shape shape) : error_(shape) {
    std::memset(get()->text, 'E', sizeof get()->text);
    get()->text[0] = '\0';
}

std::string ErrorBox::sentence() const {
    const auto error = error_.read("filling spur_error");
    const auto length = strnlen(error.text, sizeof error.text);
    require(length < sizeof error.text, "spur_error.text is not terminated");
    return {error.text, length};
}

Stopper::Stopper(Shape shape) : memory_(shape) {
    require(pipe2(pipe_, O_CLOEXEC) == 0, "the checker could not make a pipe");
    table_ = memory_.one(spur_stop{.fd = pipe_[0],
                                   .deadline_ns = INT64_MAX,
                                   .context = this,
                                   .stopped = [](const spur_stop* stop) -> std::uint32_t {
                                       return static_cast<Stopper*>(stop->context)->stopped_;
                                   }});
}

Stopper::~Stopper() {
    for (const int end : pipe_)
        if (end >= 0) close(end);
}

// The other end hangs up: readable for whoever polls.
void Stopper::stop() {
    stopped_ = true;
    close(std::exchange(pipe_[1], -1));
}

std::string sentence_of(const char* call, spur_status status, const ErrorBox& err) {
    auto text = err.sentence();
    require(!text.empty(), "{} failed with {} and no sentence in spur_error.text: say what, where and the remedy", call,
            status);
    return text;
}

void expect_ok(const char* call, spur_status status, const ErrorBox& err) {
    if (status == SPUR_OK) return void(err.sentence());
    const auto text = sentence_of(call, status, err);
    if (status == SPUR_E_UNAVAILABLE) skip("unavailable here: {}", text);
    if (status == SPUR_E_UNSUPPORTED) skip("not supported: {}", text);
    fail("{} answered {}: {}", call, status, text);
}

Created try_create(const spur_plugin_desc& desc, const spur_host* host, const spur_config* config) {
    auto* const untouched = reinterpret_cast<spur_plugin*>(std::uintptr_t{0x5a5a5a5a});
    ErrorBox err;
    spur_plugin* self = untouched;
    const auto status = desc.create(host, config, &self, err.get());
    if (status == SPUR_OK) {
        require(self != nullptr && self != untouched, "create() answered SPUR_OK and set no instance");
        return {status, self, {}};
    }
    require(status < 0, "create() answered {}: it knows no verdicts, only SPUR_OK and errors", status);
    require(self == untouched, "create() failed and changed *out: it must leave it alone");
    return {status, nullptr, sentence_of("create()", status, err)};
}

Instance::Instance(const spur_plugin_desc& desc, TestHost& host, const spur_config* config) : desc_(desc), host_(host) {
    doing("in create()");
    const auto created = try_create(desc, host.get(), config);
    if (created.status == SPUR_E_UNAVAILABLE) skip("unavailable here: {}", created.sentence);
    if (created.status != SPUR_OK)
        fail("create() answered {}: {} (options are given with --set)", created.status, created.sentence);
    self_ = created.self;
}

Instance::~Instance() {
    doing("in destroy()");
    host_.before_destroy();
    desc_.destroy(self_);
    host_.after_destroy();
}

Bench::Bench(const Subject& subject, Shape shape, TestHost::Services services)
    : module_(subject.file), desc_(module_.plugin(subject.type)), host_(subject, shape, services) {
    Memory borrowed(shape);  // gone after create(): whoever kept a pointer into it is found out
    instance_.emplace(desc_, host_, Configuration(desc_, subject).in(borrowed));
}

void Bench::finish() {
    instance_.reset();
    host_.judge();
}

}  // namespace spur::check
