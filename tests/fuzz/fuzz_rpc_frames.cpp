// What any peer may send to the RPC port: no bytes crash the server, every session that opens also closes, and no
// memory stays on the books. The first byte chooses how far into the protocol the rest begins.
#include "daemons/common/wire/server_connection.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace spur;
using namespace spur::wire;

std::string frame(std::uint8_t type, std::uint8_t flags, std::uint8_t stream, std::string_view payload) {
    std::string bytes{'\0',
                      static_cast<char>(payload.size() >> 8),
                      static_cast<char>(payload.size()),
                      static_cast<char>(type),
                      static_cast<char>(flags),
                      '\0',
                      '\0',
                      '\0',
                      static_cast<char>(stream)};
    return bytes.append(payload);
}

std::string literal(std::string_view name, std::string_view value) {
    std::string bytes{'\0', static_cast<char>(name.size())};
    bytes.append(name) += static_cast<char>(value.size());
    return bytes.append(value);
}

std::string request(std::uint8_t stream, std::string_view path) {
    constexpr std::uint8_t headers = 1, end_headers = 4;
    return frame(headers, end_headers, stream,
                 literal(":method", "POST") + literal(":scheme", "http") + literal(":path", path) +
                     literal(":authority", "x") + literal("content-type", "application/grpc") +
                     literal("grpc-encoding", "gzip") + literal("grpc-accept-encoding", "gzip"));
}

struct Server {
    Server()
        : service{
              ServerOptions{.max_message_bytes = 1000, .max_buffered_bytes = 3000, .max_session_queue_bytes = 2000}} {
        service.methods["/t/Unary"].unary = [](const Call& call) { call.reply(std::string{call.request()}); };
        service.methods["/t/Drop"] = {[](const Call&) {}, nullptr, Access::anyone};
        service.methods["/t/Stream"].stream = [this](const Session& session) {
            ++opened;
            session.on_message([session](std::string message) {
                if (message.starts_with("p")) session.pause();
                if (message.starts_with("c")) session.close();
                if (message.starts_with("t")) throw std::runtime_error{"thrown"};
                for (int i = 0; i < 3; ++i) session.send(message);
            });
            session.on_half_closed([session] { session.close(); });
            session.on_closed([this](const std::optional<Error>&) { ++closed; });
            sessions.push_back(session);
        };
    }
    Service service;
    int opened{0}, closed{0};
    std::vector<Session> sessions;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static const auto inbox = *Inbox::make();
    inbox->belong_to_this_thread();
    Server server;
    auto now = ServerClock::now();
    {
        ServerConnection connection{server.service, inbox, 1, std::make_shared<Peer>(), now};
        std::string opening;
        if ((data[0] & 1) == 0) opening += "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, "");
        if ((data[0] & 2) != 0) opening += request(1, "/t/Unary");
        if ((data[0] & 4) != 0) opening += request(3, "/t/Stream");
        if ((data[0] & 8) != 0) opening += request(5, "/t/Drop");
        std::string input = opening + std::string{as_text(data + 1, size - 1)};
        const std::size_t step = (data[0] & 16) != 0 ? 7 : input.size();
        std::string out;
        std::vector<Order> orders;
        for (std::size_t at = 0; at < input.size(); at += step) {
            const bool good = connection.receive(std::string_view{input}.substr(at, step), now);
            do {
                orders.clear();
                inbox->take(orders);
                for (auto& order : orders) connection.execute(std::move(order));
                out.clear();
                connection.produce(out, 1u << 20);
            } while (!orders.empty());
            if (!good || connection.finished()) break;
        }
        if ((data[0] & 32) != 0) {
            for (const auto& session : server.sessions) session.resume();
            now += std::chrono::hours{1};
            static_cast<void>(connection.tick(now).has_value());
        }
        if ((data[0] & 64) != 0) connection.drain("stopping");
        connection.produce(out, 1u << 20);
    }
    std::vector<Order> rest;
    inbox->take(rest);
    must(server.opened == server.closed);
    must(server.service.sessions == 0);
    must(server.service.buffered == 0);
    return 0;
}
