// Submits as fast as a number of clients can, each its own process with its own connection, as a portal or a workflow
// engine would, and prints how long it took. submit_load_slurm.c does the same to a Slurm.
//   submit_load [-n JOBS] [-p PROCESSES] [-H] [-w NODE] [-s SCRIPT-BODY]
#include "cli/common/session.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>

namespace {

using namespace spur;

struct Settings {
    int jobs{1000};
    int processes{1};
    bool held{false};
    std::string node;
    std::string body{"true"};
};

v1::SubmitRequest request_of(const Settings& settings) {
    v1::SubmitRequest request;
    auto& spec = *request.add_components();
    spec.set_kind(v1::JobSpec::BATCH);
    spec.set_name("bench");
    spec.set_script("#!/bin/sh\n" + settings.body + "\n");
    spec.set_command("bench");
    spec.add_environment("PATH=/usr/bin:/bin");
    spec.add_environment("HOME=/tmp");
    spec.set_work_dir("/tmp");
    spec.set_std_out("/dev/null");
    spec.set_umask(022);
    spec.set_uid(getuid());
    spec.set_gid(getgid());
    spec.set_tasks(1);
    spec.set_time_limit_min(60);
    spec.set_hold(settings.held);
    spec.set_node_list(settings.node);
    return request;
}

// How many failed.
int submit(const Settings& settings, int jobs) {
    auto session = cli::Session::open();
    if (!session) {
        fmt::print(stderr, "submit_load: {}\n", session.error().text);
        return jobs;
    }
    auto request = request_of(settings);
    int failed = 0;
    for (int i = 0; i < jobs; ++i) {
        request.set_request_id(fmt::format("bench-{}-{}", getpid(), i));
        const auto reply = session->call<v1::SubmitReply>("Submit", request, cli::Session::write_options());
        if (reply) continue;
        if (failed++ == 0) fmt::print(stderr, "submit_load: {}\n", reply.error().text);
    }
    return failed;
}

}  // namespace

int main(int argc, char** argv) {
    Settings settings;
    for (int option = 0; (option = getopt(argc, argv, "n:p:Hw:s:")) != -1;) {
        switch (option) {
            case 'n':
                settings.jobs = std::atoi(optarg);
                break;
            case 'p':
                settings.processes = std::max(1, std::atoi(optarg));
                break;
            case 'H':
                settings.held = true;
                break;
            case 'w':
                settings.node = optarg;
                break;
            case 's':
                settings.body = optarg;
                break;
            default:
                return 2;
        }
    }
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < settings.processes; ++i) {
        const int share = settings.jobs / settings.processes + (i < settings.jobs % settings.processes ? 1 : 0);
        if (fork() == 0) _exit(submit(settings, share) == 0 ? 0 : 1);
    }
    bool failed = false;
    for (int status = 0; wait(&status) > 0;) failed = failed || status != 0;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    fmt::print("seconds={:.4f} submits_per_s={:.1f}\n", took.count(), settings.jobs / took.count());
    return failed ? 1 : 0;
}
