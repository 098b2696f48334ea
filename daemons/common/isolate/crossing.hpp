// One op crossing over: from its type follow a function for the daemon that packs the arguments and waits for the
// answer, and one for the plugin's process that unpacks them, calls the plugin and packs what it wrote. Each kind of
// parameter is described once.
#pragma once

#include <spur/plugin/module.h>
#include <time.h>

#include <atomic>
#include <functional>
#include <tuple>
#include <utility>

#include "core/base/result.hpp"
#include "daemons/common/isolate/values.hpp"

namespace spur::isolate {

// ---- the two ends of a call ----------------------------------------------------------------------------------------

// In the daemon. `push` is called with what the plugin pushes into the call's sinks, on the caller's thread; its answer
// is the sink's.
class Caller {
public:
    virtual ~Caller() = default;
    using Push = std::function<spur_status(unsigned parameter, unsigned function, Unpack& arguments)>;
    virtual Result<std::string> call(unsigned op, const std::string& arguments, const spur_stop* stop,
                                     const Push& push) = 0;
};

// In the plugin's process: where a call's pushes go, and whether it was stopped.
class Callee {
public:
    virtual ~Callee() = default;
    // Waits for the sink's answer with `asks`, or when much has gone there unanswered; else it is SPUR_OK.
    virtual spur_status push(unsigned parameter, unsigned function, bool asks, const Pack& arguments) = 0;
    std::atomic<bool> stopped{false};
};

// The plugin has to know what a sink says before it goes on, unless the sink only ever says "stop": then it hears of
// it a little later, whatever it pushes until then is dropped, and that word is the call's answer.
template <auto Function>
inline constexpr bool is_stream = false;

// ---- parameters ----------------------------------------------------------------------------------------------------

inline std::int64_t monotonic_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// By value.
template <class T>
struct Parameter {
    static void send(Pack& out, T value) { Value<T>::pack(out, value); }
    static void receive(Unpack&, T) {}
    static spur_status push(unsigned, Unpack&, T, spur_status&) { return SPUR_OK; }
    struct Held {
        Held(Unpack& in, Callee&, unsigned) { Value<T>::unpack(in, value); }
        T get() { return value; }
        void answer(Pack&) {}
        T value{};
    };
};

// A span by value; an op says of what records.
template <class Record>
struct SpanParameter {
    static void send(Pack& out, spur_span value) { pack_span<Record>(out, value); }
    static void receive(Unpack&, spur_span) {}
    static spur_status push(unsigned, Unpack&, spur_span, spur_status&) { return SPUR_OK; }
    struct Held {
        Held(Unpack& in, Callee&, unsigned) : value{unpack_span<Record>(in)} {}
        spur_span get() { return value; }
        void answer(Pack&) {}
        spur_span value;
    };
};

// A struct to be read.
template <Described S>
struct Parameter<const S*> {
    static void send(Pack& out, const S* value) {
        out.raw(value != nullptr);
        if (value != nullptr) Value<S>::pack(out, copy_of(value, size_of(*value)));
    }
    static void receive(Unpack&, const S*) {}
    static spur_status push(unsigned, Unpack&, const S*, spur_status&) { return SPUR_OK; }
    struct Held {
        Held(Unpack& in, Callee&, unsigned) : is_there{in.get<bool>()} {
            if (is_there) Value<S>::unpack(in, value);
        }
        const S* get() { return is_there ? &value : nullptr; }
        void answer(Pack&) {}
        bool is_there;
        S value{};
    };

private:
    static std::size_t size_of(const S& value) {
        if constexpr (Sized<S>)
            return value.size;
        else
            return sizeof(S);
    }
};

// A struct, or a number, to be written: it goes there as it was preset and comes back as it was left.
template <class S>
requires Flat<S>::value || std::is_arithmetic_v<S>
struct Parameter<S*> {
    static void send(Pack& out, S* value) {
        out.raw(value != nullptr);
        if (value != nullptr) out.raw(preset(*value));
    }
    static void receive(Unpack& in, S* value) {
        if (value == nullptr) return;
        const auto answer = in.get<S>();
        if constexpr (Sized<S>)
            SPUR_PUT(value, &answer);
        else
            *value = answer;
    }
    static spur_status push(unsigned, Unpack&, S*, spur_status&) { return SPUR_OK; }
    struct Held {
        Held(Unpack& in, Callee&, unsigned) : is_there{in.get<bool>()} {
            if (is_there) in.raw(value);
        }
        S* get() { return is_there ? &value : nullptr; }
        void answer(Pack& out) {
            if (is_there) out.raw(value);
        }
        bool is_there;
        S value{};
    };

private:
    static S preset(const S& value) {
        if constexpr (!Sized<S>) {
            return value;
        } else {
            auto copy = copy_of(&value, value.size);
            copy.size = sizeof(S);
            return copy;
        }
    }
};

template <>
struct Flat<spur_error> : std::true_type {};

template <>
struct Parameter<const spur_stop*> {
    static void send(Pack& out, const spur_stop* stop) { out.raw(stop->deadline_ns); }
    static void receive(Unpack&, const spur_stop*) {}
    static spur_status push(unsigned, Unpack&, const spur_stop*, spur_status&) { return SPUR_OK; }
    struct Held {
        Held(Unpack& in, Callee& callee, unsigned) : stop{sizeof(stop), -1, in.get<std::int64_t>(), &callee, stopped} {}
        const spur_stop* get() { return &stop; }
        void answer(Pack&) {}
        spur_stop stop;
        static std::uint32_t stopped(const spur_stop* stop) noexcept {
            return static_cast<Callee*>(stop->context)->stopped || monotonic_ns() >= stop->deadline_ns ? 1 : 0;
        }
    };
};

// Bytes into a sink.
template <>
struct Parameter<const spur_sink*> {
    static void send(Pack&, const spur_sink*) {}
    static void receive(Unpack&, const spur_sink*) {}
    static spur_status push(unsigned, Unpack& in, const spur_sink* sink, spur_status& refused) {
        const auto text = in.text();
        if (refused == SPUR_OK) refused = sink->write(sink, text.data(), text.size());
        return refused;
    }
    struct Held {
        Held(Unpack&, Callee& to, unsigned at) : callee{&to}, index{at} {}
        const spur_sink* get() {
            sink = {sizeof(sink), 0, this, write};
            return &sink;
        }
        void answer(Pack&) {}
        static spur_status write(const spur_sink* sink, const void* data, std::uint64_t length) noexcept {
            auto& self = *static_cast<Held*>(sink->context);
            Pack arguments;
            arguments.text({static_cast<const char*>(data), static_cast<std::size_t>(length)});
            return self.callee->push(self.index, 0, false, arguments);
        }
        Callee* callee;
        unsigned index;
        spur_sink sink{};
    };
};

// A sink with functions of its own: Pushes<spur_claims> : Functions<&spur_claims::claim>.
template <class Sink>
struct Pushes;
template <class T>
concept IsSink = requires {
    typename Pushes<T>::Sink;
};

template <auto Function, class F = decltype(Function)>
struct SinkFunction;
template <auto Function, class S, class R, class... A>
struct SinkFunction<Function, R (*S::*)(const S*, A...)> {
    using Sink = S;
    // In the plugin's process.
    template <class Held, unsigned Number>
    static R thunk(const S* sink, A... arguments) noexcept {
        auto& self = *static_cast<Held*>(sink->context);
        Pack packed;
        (Parameter<A>::send(packed, arguments), ...);
        constexpr bool answers = !std::is_void_v<R>;
        [[maybe_unused]] const auto status =
            self.callee->push(self.index, Number, answers && !is_stream<Function>, packed);
        if constexpr (answers) return status;
    }
    // In the daemon.
    static spur_status run(const S* sink, Unpack& in, spur_status& refused) {
        struct Nobody final : Callee {
            spur_status push(unsigned, unsigned, bool, const Pack&) override { return SPUR_OK; }
        } nobody;
        std::tuple<typename Parameter<A>::Held...> held{typename Parameter<A>::Held(in, nobody, 0)...};
        if (!in.good()) return SPUR_E_INVALID;
        if (sink->*Function == nullptr || refused != SPUR_OK) return refused;
        return std::apply(
            [&](auto&... each) {
                if constexpr (std::is_void_v<R>) {
                    (sink->*Function)(sink, each.get()...);
                    return SPUR_OK;
                } else {
                    const auto status = (sink->*Function)(sink, each.get()...);
                    if (is_stream<Function>) refused = status;
                    return status;
                }
            },
            held);
    }
};

template <auto... Function>
struct Functions {
    using Sink = std::common_type_t<typename SinkFunction<Function>::Sink...>;
    template <class Held>
    static void fill(Sink& sink) {
        fill_each<Held>(sink, std::make_integer_sequence<unsigned, sizeof...(Function)>{});
    }
    static spur_status run(unsigned number, const Sink* sink, Unpack& in, spur_status& refused) {
        unsigned at = 0;
        auto status = SPUR_E_INVALID;
        ((at++ == number ? static_cast<void>(status = SinkFunction<Function>::run(sink, in, refused)) : void()), ...);
        return status;
    }

private:
    template <class Held, unsigned... Number>
    static void fill_each(Sink& sink, std::integer_sequence<unsigned, Number...>) {
        ((sink.*Function = SinkFunction<Function>::template thunk<Held, Number>), ...);
    }
};

template <IsSink Sink>
struct Parameter<const Sink*> {
    static void send(Pack& out, const Sink* sink) { out.raw(sink != nullptr); }
    static void receive(Unpack&, const Sink*) {}
    static spur_status push(unsigned function, Unpack& in, const Sink* sink, spur_status& refused) {
        return sink == nullptr ? SPUR_E_INVALID : Pushes<Sink>::run(function, sink, in, refused);
    }
    struct Held {
        Held(Unpack& in, Callee& to, unsigned at) : callee{&to}, index{at}, is_there{in.get<bool>()} {}
        const Sink* get() {
            if (!is_there) return nullptr;
            sink.size = sizeof(sink);
            sink.context = this;
            Pushes<Sink>::template fill<Held>(sink);
            return &sink;
        }
        void answer(Pack&) {}
        Callee* callee;
        unsigned index;
        bool is_there;
        Sink sink{};
    };
};

// ---- an op ---------------------------------------------------------------------------------------------------------

// Runs one op in the plugin's process: `function` is the plugin's.
using Invoke = void (*)(const void* function, spur_plugin* self, Unpack& arguments, Callee& callee, Pack& answer);

struct OpCrossing {
    const void* proxy;  // what stands in the daemon's table
    Invoke invoke;
    bool may_last;
};

// The op may say nothing for hours: it ends when it is stopped. Of any other, silence is a hang.
template <auto Member>
inline constexpr bool may_last = false;

namespace detail {

inline const spur_stop* stop_among() { return nullptr; }
template <class First, class... Rest>
const spur_stop* stop_among(First first, Rest... rest) {
    if constexpr (std::is_same_v<First, const spur_stop*>)
        return first;
    else
        return stop_among(rest...);
}
inline spur_error* error_among() { return nullptr; }
template <class First, class... Rest>
spur_error* error_among(First first, Rest... rest) {
    if constexpr (std::is_same_v<First, spur_error*>)
        return first;
    else
        return error_among(rest...);
}

spur_status tell(spur_error* error, spur_status status, std::string_view sentence) noexcept;

template <class T, class Record>
struct Choose {
    using Type = Parameter<T>;
};
template <class Record>
struct Choose<spur_span, Record> {
    using Type = SpanParameter<Record>;
};

template <unsigned Number, class F, class Record>
struct Op;
template <unsigned Number, class Ops, class Record, class... P>
struct Op<Number, spur_status (*Ops::*)(spur_plugin*, P...), Record> {
    template <class T>
    using Param = typename Choose<T, Record>::Type;
    static spur_status proxy(spur_plugin* self, P... arguments) noexcept try {
        Pack packed;
        (Param<P>::send(packed, arguments), ...);
        spur_status refused = SPUR_OK;  // by a sink that is a stream
        const auto push = [&](unsigned parameter, unsigned function, Unpack& in) {
            unsigned at = 0;
            auto status = SPUR_E_INVALID;
            ((at++ == parameter ? static_cast<void>(status = Param<P>::push(function, in, arguments, refused))
                                : void()),
             ...);
            return status;
        };
        const auto answer =
            reinterpret_cast<Caller*>(self)->call(Number, packed.bytes(), stop_among(arguments...), push);
        if (!answer) return tell(error_among(arguments...), SPUR_E_UNAVAILABLE, answer.error().text);
        Unpack in{*answer};
        const auto status = in.get<spur_status>();
        (Param<P>::receive(in, arguments), ...);
        if (!in.good()) return tell(error_among(arguments...), SPUR_E_INTERNAL, "its process sent a broken answer");
        return status == SPUR_OK ? refused : status;
    } catch (...) {
        return tell(error_among(arguments...), SPUR_E_INTERNAL, "out of memory");
    }

    static void invoke(const void* function, spur_plugin* self, Unpack& in, Callee& callee, Pack& out) {
        call(function, self, in, callee, out, std::make_integer_sequence<unsigned, sizeof...(P)>{});
    }

private:
    template <unsigned... Index>
    static void call(const void* function, spur_plugin* self, Unpack& in, Callee& callee, Pack& out,
                     std::integer_sequence<unsigned, Index...>) {
        std::tuple<typename Param<P>::Held...> held{typename Param<P>::Held(in, callee, Index)...};
        const auto run = reinterpret_cast<spur_status (*)(spur_plugin*, P...)>(const_cast<void*>(function));
        out.raw(run(self, std::get<Index>(held).get()...));
        (std::get<Index>(held).answer(out), ...);
    }
};

}  // namespace detail

// The op of an axis's table with this number. An op that takes a span is named together with its records:
// Of<&Ops::partition, spur_str>.
template <auto Member, class Record = void>
struct Of {};

template <unsigned Number, auto Op, class Record>
OpCrossing crossing(Of<Op, Record>) {
    using It = detail::Op<Number, decltype(Op), Record>;
    return {reinterpret_cast<const void*>(&It::proxy), &It::invoke, may_last<Op>};
}

}  // namespace spur::isolate
