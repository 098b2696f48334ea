// What a call costs: unary echoes over loopback from one and from several client processes, with CPU time on both
// sides, beside the floor: the same bytes echoed over bare sockets in the same run.
//   wire_bench [--calls N] [--clients N] [--bytes N] [--io-threads N]
//   wire_bench --server [--io-threads N]           serves until stdin closes; prints its port
//   wire_bench --client PORT [--calls N]           calls a server started by the line above
#include "daemons/common/wire/client.hpp"
#include "daemons/common/wire/server.hpp"
#include "daemons/common/wire/socket.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace spur;
using namespace spur::wire;

constexpr const char* echo = "/spur.bench/Echo";

struct Settings {
    int calls{20000};
    int clients{8};
    std::size_t bytes{300};
    unsigned io_threads{1};
    bool reconnect{false};
    bool bare{false};  // sockets alone: the floor
};

double cpu_seconds(int who) {
    rusage usage{};
    getrusage(who, &usage);
    return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

std::unique_ptr<RpcServer> serve(const Settings& settings) {
    ServerOptions options;
    options.io_threads = settings.io_threads;
    auto server = std::make_unique<RpcServer>(options);
    server->unary(echo, [](Call call) { call.reply(std::string{call.request()}); });
    if (auto started = server->start(); !started) {
        fmt::print(stderr, "{}\n", started.error().text);
        std::exit(1);
    }
    return server;
}

// The floor's server: epoll, recv, send.
void serve_bare(const Fd& listener) {
    const int epoll = epoll_create1(0);
    auto watch = [&](int fd) {
        epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    };
    watch(listener.get());
    std::vector<Fd> peers;
    std::vector<char> buffer(1u << 20);
    for (epoll_event event{}; epoll_wait(epoll, &event, 1, -1) == 1;) {
        std::string text;
        std::size_t count = 0;
        if (event.data.fd == listener.get()) {
            if (auto peer = accept_from(listener.get(), text)) {
                watch(peer->get());
                peers.push_back(*std::move(peer));
            }
        } else if (receive_bytes(event.data.fd, buffer.data(), buffer.size(), count, text) == Moved::some) {
            send_bytes(event.data.fd, {buffer.data(), count}, count, text);
        } else {
            epoll_ctl(epoll, EPOLL_CTL_DEL, event.data.fd, nullptr);
        }
    }
}

int run_bare_client(std::uint16_t port, const Settings& settings) {
    const auto deadline = Clock::now() + std::chrono::hours{1};
    const auto fd = connect_to({"127.0.0.1", port}, deadline);
    if (!fd) return 1;
    const std::string body(settings.bytes, 'x');
    std::vector<char> buffer(settings.bytes);
    std::string why;
    for (int i = 0; i < settings.calls; ++i) {
        std::size_t sent = 0;
        if (send_bytes(fd->get(), body, sent, why) == Moved::closed) return 1;
        for (std::size_t got = 0, count = 0; got < sent; got += count) {
            wait_for(fd->get(), POLLIN, deadline);
            if (receive_bytes(fd->get(), buffer.data(), buffer.size(), count, why) == Moved::closed) return 1;
        }
    }
    return 0;
}

int run_client(std::uint16_t port, const Settings& settings) {
    const ChannelOptions options{.endpoints = {{"127.0.0.1", port}}};
    Channel channel{options};
    const std::string body(settings.bytes, 'x');
    for (int i = 0; i < settings.calls; ++i) {
        if (settings.reconnect) channel = Channel{options};
        if (const auto reply = channel.unary(echo, body); !reply || reply->size() != body.size()) {
            fmt::print(stderr, "{}\n", reply ? "wrong reply" : reply.error().text);
            return 1;
        }
    }
    return 0;
}

// Runs in the server's process until `stop` closes; tells its port, and at the end the CPU time it took.
void be_server(const Settings& settings, int answer, int stop) {
    std::unique_ptr<RpcServer> server;
    std::uint16_t port = 0;
    if (settings.bare) {
        static const auto listener = listen_on({"127.0.0.1", 0});
        port = *local_port(listener->get());
        std::thread{[] { serve_bare(*listener); }}.detach();
    } else {
        server = serve(settings);
        port = server->port();
    }
    if (write(answer, &port, sizeof port) != sizeof port) _exit(1);
    char byte = 0;
    while (read(stop, &byte, 1) > 0) {
    }
    server.reset();
    const double cpu = cpu_seconds(RUSAGE_SELF);
    _exit(write(answer, &cpu, sizeof cpu) == sizeof cpu ? 0 : 1);
}

struct Cost {
    double calls_per_s{0}, client_us{0}, server_us{0};
};

// The server runs in a process of its own, so that its CPU time can be told from the clients'.
Cost measure(const Settings& settings) {
    int answer[2], stop[2];
    if (pipe(answer) != 0 || pipe(stop) != 0) std::exit(1);
    const pid_t server = fork();
    if (server == 0) {
        close(stop[1]);
        be_server(settings, answer[1], stop[0]);
    }
    close(stop[0]);
    std::uint16_t port = 0;
    if (read(answer[0], &port, sizeof port) != sizeof port) std::exit(1);

    const double before = cpu_seconds(RUSAGE_CHILDREN);
    const auto start = std::chrono::steady_clock::now();
    std::vector<pid_t> clients;
    for (int i = 0; i < settings.clients; ++i) {
        const pid_t client = fork();
        if (client == 0) _exit(settings.bare ? run_bare_client(port, settings) : run_client(port, settings));
        clients.push_back(client);
    }
    for (const pid_t client : clients) {
        int status = 0;
        waitpid(client, &status, 0);
        if (status != 0) fmt::print("a client failed\n");
    }
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double client_cpu = cpu_seconds(RUSAGE_CHILDREN) - before;
    close(stop[1]);
    double server_cpu = 0;
    if (read(answer[0], &server_cpu, sizeof server_cpu) != sizeof server_cpu) std::exit(1);
    waitpid(server, nullptr, 0);
    close(answer[0]);
    close(answer[1]);
    const double calls = double(settings.calls) * settings.clients;
    return {calls / wall, client_cpu / calls * 1e6, server_cpu / calls * 1e6};
}

void report(Settings settings, int clients) {
    settings.clients = clients;
    settings.bare = true;
    const Cost floor = measure(settings);
    settings.bare = false;
    auto print = [&](const char* what, const Cost& cost) {
        const double ratio = (cost.client_us + cost.server_us) / (floor.client_us + floor.server_us);
        fmt::print(
            "{:2} client{} {:22} {:8.0f} calls/s   CPU per call: client {:5.1f} us, server {:5.1f} us, {:4.1f} x "
            "floor\n",
            clients, clients == 1 ? " " : "s", what, cost.calls_per_s, cost.client_us, cost.server_us, ratio);
    };
    print("bare sockets", floor);
    print("calls", measure(settings));
    settings.reconnect = true;
    settings.calls /= 4;
    print("a connection per call", measure(settings));
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    bool server_only = false;
    std::uint16_t client_port = 0;
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        const bool has_value = i + 1 < argc;
        if (option == "--server")
            server_only = true;
        else if (option == "--reconnect")
            settings.reconnect = true;
        else if (option == "--client" && has_value)
            client_port = static_cast<std::uint16_t>(std::atoi(argv[++i]));
        else if (option == "--calls" && has_value)
            settings.calls = std::atoi(argv[++i]);
        else if (option == "--clients" && has_value)
            settings.clients = std::atoi(argv[++i]);
        else if (option == "--bytes" && has_value)
            settings.bytes = std::strtoul(argv[++i], nullptr, 10);
        else if (option == "--io-threads" && has_value)
            settings.io_threads = static_cast<unsigned>(std::atoi(argv[++i]));
        else {
            fmt::print(stderr, "wire_bench: unknown option {}\n", option);
            return 64;
        }
    }
    if (client_port != 0) return run_client(client_port, settings);
    if (server_only) {
        auto server = serve(settings);
        fmt::print("{}\n", server->port());
        std::fflush(stdout);
        char byte = 0;
        while (read(STDIN_FILENO, &byte, 1) > 0) {
        }
        return 0;
    }
    fmt::print("{} bytes there and back\n", settings.bytes);
    report(settings, 1);
    report(settings, settings.clients);
    return 0;
}
