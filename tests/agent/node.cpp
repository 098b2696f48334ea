#include "tests/agent/node.hpp"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <thread>

#include "core/base/sha256.hpp"

namespace spur::test {

namespace fs = std::filesystem;

bool wait_until(const std::function<bool()>& condition, std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(2ms);
    }
    return true;
}

fs::path Node::make_root() {
    std::string pattern = (fs::temp_directory_path() / "spur-agent-XXXXXX").string();
    const fs::path root = mkdtemp(pattern.data());
    fs::create_directories(root / "work");
    fs::create_directories(root / "state");
    fs::permissions(root, fs::perms{0755});
    std::ofstream{root / "auth.key"} << "0123456789abcdef0123456789abcdef";
    fs::permissions(root / "auth.key", fs::perms{0600});
    return root;
}

// Where spurd is started from: the build, or, for a user who may not look into it, a copy of its programs and plugins.
fs::path Node::programs(std::uint32_t uid) const {
    const fs::path build{SPUR_BUILD_DIR};
    bool hidden = false;
    for (auto folder = build; folder != folder.root_path(); folder = folder.parent_path())
        hidden |= (fs::status(folder).permissions() & fs::perms::others_exec) == fs::perms::none;
    if (uid == 0 || !hidden) return build;
    fs::create_directories(root / "build/lib");
    fs::copy(build / "bin", root / "build/bin", fs::copy_options::recursive | fs::copy_options::skip_existing);
    fs::copy(build / "lib/spur", root / "build/lib/spur",
             fs::copy_options::recursive | fs::copy_options::skip_existing);
    return root / "build";
}

// The agent under test and the controller played here share a key.
host::Bound<host::AuthAxis> Node::open_auth() {
    plugins.set_dirs({SPUR_BUILD_DIR "/lib/spur"});
    auto opened = plugins.open<host::AuthAxis>("auth/local", {{"key_file", (root / "auth.key").string(), 1}});
    if (!opened) throw std::runtime_error(opened.error().text);
    return *opened;
}

void Node::TearDown() {
    if (spurd_pid > 0) {
        // Jobs outlive spurd by design; tests must not.
        kill_spurd(SIGKILL);
        for (const auto& entry : fs::directory_iterator{"/proc"}) {
            std::ifstream environ{entry.path() / "environ", std::ios::binary};
            const std::string text{std::istreambuf_iterator<char>{environ}, {}};
            const auto pid = std::atoi(entry.path().filename().c_str());
            if (pid > 0 && text.find("SPUR_TEST_ROOT=" + root.string()) != std::string::npos) kill(pid, SIGKILL);
        }
    }
    if (HasFailure()) std::cerr << "spurd's log:\n" << file("../spurd.log");
    // Step daemons may still be writing their results.
    std::error_code error;
    wait_until([&] { return fs::remove_all(root, error), !fs::exists(root); }, 5s);
}

void Node::start_spurd(SpurdOptions options) {
    options_ = options;
    std::ofstream{root / "spur.conf"} << "[plugin.\"auth/local\"]\nkey_file = \"" << (root / "auth.key").string()
                                      << "\"\n"
                                      << (options.config.empty()
                                              ? "[plugins]\ncgroup = \"cgroup/none\"\ngpu = [\"gpu/none\"]\n"
                                              : options.config);
    if (options.uid != 0) {
        for (const auto& path : {root, work, state, root / "spur.conf", root / "auth.key"})
            ASSERT_EQ(chown(path.c_str(), options.uid, options.uid), 0);
    }
    std::vector<std::string> words{programs(options.uid) / "bin/spurd",
                                   "-D",
                                   "-f",
                                   root / "spur.conf",
                                   "-N",
                                   "n1",
                                   "--state-dir",
                                   state,
                                   "--listen",
                                   "127.0.0.1:0",
                                   "--controller",
                                   controller.address(),
                                   "-v"};
    words.insert(words.end(), options.extra.begin(), options.extra.end());
    spurd_pid = fork();
    if (spurd_pid == 0) {
        const int log = open((root / "spurd.log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
        dup2(log, STDERR_FILENO);
        dup2(log, STDOUT_FILENO);
        if (options.uid != 0 && (setgroups(0, nullptr) != 0 || setgid(options.uid) != 0 || setuid(options.uid) != 0))
            _exit(99);
        for (auto& variable : options.environment) putenv(variable.data());
        const rlimit files{options.open_files, options.open_files};
        if (options.open_files != 0 && setrlimit(RLIMIT_NOFILE, &files) != 0) _exit(97);
        std::vector<char*> argv;
        for (auto& word : words) argv.push_back(word.data());
        argv.push_back(nullptr);
        execv(argv[0], argv.data());
        _exit(98);
    }
}

void Node::kill_spurd(int number) {
    kill(spurd_pid, number);
    int status{};
    waitpid(spurd_pid, &status, 0);
    spurd_pid = -1;
}

void Node::restart_spurd() {
    if (spurd_pid > 0) kill_spurd(SIGKILL);
    start_spurd(options_);
}

std::optional<v1::Register> Node::joined(std::size_t count) {
    auto hello = controller.wait_registration(count);
    if (hello) serve_addr = hello->serve_addr();
    return hello;
}

v1::LaunchBatch Node::batch(std::uint32_t job, const std::string& script) const {
    v1::LaunchBatch order;
    auto& launch = *order.mutable_job();
    const auto uid = options_.uid != 0 ? options_.uid : geteuid();
    launch.set_job_id(job);
    launch.set_attempt(1);
    launch.set_uid(uid);
    launch.set_gid(options_.uid != 0 ? options_.uid : getegid());
    launch.set_user_name("tester");
    launch.set_work_dir(work);
    launch.set_std_out("out.%j");
    launch.set_umask(022);
    launch.mutable_share()->set_node("n1");
    launch.mutable_share()->set_cpus(1);
    *launch.add_shares() = launch.share();
    auto& record = *launch.mutable_job();
    record.set_id(job);
    record.set_partition("main");
    record.set_node_list("n1");
    record.set_node_count(1);
    record.mutable_spec()->set_name("test");
    order.set_script("#!/bin/sh\n" + script + "\n");
    order.add_environment("PATH=/usr/bin:/bin");
    order.add_environment("SPUR_TEST_ROOT=" + root.string());
    return order;
}

void Node::launch(const v1::LaunchBatch& order) {
    v1::ControllerMessage message;
    *message.mutable_launch() = order;
    controller.send(message);
}

std::optional<v1::StepReport> Node::run(const v1::LaunchBatch& order) {
    launch(order);
    return controller.wait_report(order.job().job_id(), v1::StepReport::FINISHED);
}

void Node::end(std::uint32_t job, const std::string& state_name, const std::string& why) {
    v1::ControllerMessage message;
    auto& order = *message.mutable_end();
    order.set_job_id(job);
    order.set_attempt(1);
    order.set_state(state_name);
    order.set_why(why);
    order.set_run_epilog(true);
    controller.send(message);
}

void Node::signal(std::uint32_t job, int number, bool batch_only, bool full) {
    v1::ControllerMessage message;
    auto& order = *message.mutable_signal();
    order.set_job_id(job);
    order.set_attempt(1);
    order.set_signal(static_cast<std::uint32_t>(number));
    order.set_batch_only(batch_only);
    order.set_full(full);
    order.set_all_steps(!batch_only);
    controller.send(message);
}

// ---- steps ---------------------------------------------------------------------------------------------------------

void Node::start_job(std::uint32_t job) {
    v1::ControllerMessage message;
    *message.mutable_start()->mutable_job() = batch(job, "").job();
    message.mutable_start()->mutable_job()->mutable_job()->mutable_spec()->set_kind(v1::JobSpec::ALLOCATION);
    controller.send(message);
}

v1::StepCredential Node::credential(std::uint32_t job, std::uint32_t step, std::uint32_t tasks) const {
    v1::StepCredential credential;
    *credential.mutable_job() = batch(job, "").job();
    credential.mutable_job()->mutable_job()->mutable_spec()->set_kind(v1::JobSpec::ALLOCATION);
    auto& record = *credential.mutable_step();
    record.set_job_id(job);
    record.set_step_id(step);
    record.set_tasks(tasks);
    record.set_node_list("n1");
    auto& share = *record.add_shares();
    share.set_node("n1");
    share.set_cpus(tasks);
    auto& layout = *credential.add_layout();
    layout.set_node("n1");
    for (std::uint32_t i = 0; i < tasks; ++i) layout.add_tasks(i);
    credential.set_cpus_per_task(1);
    credential.set_issued(std::time(nullptr));
    credential.set_expires(std::time(nullptr) + 120);
    return credential;
}

std::string Node::sign(const google::protobuf::MessageLite& body, const sign::SigningKey& key) const {
    v1::SignedCredential outer;
    outer.set_body(body.SerializeAsString());
    outer.set_key(key.public_key());
    outer.set_signature(*key.sign(outer.body()));
    return outer.SerializeAsString();
}

v1::StepLaunch Node::step_launch(const v1::StepCredential& credential, std::vector<std::string> argv) const {
    v1::StepLaunch launch;
    launch.set_credential(sign(credential, controller.key));
    launch.set_node("n1");
    for (auto& word : argv) launch.add_argv(std::move(word));
    launch.add_environment("PATH=/usr/bin:/bin");
    launch.add_environment("SPUR_TEST_ROOT=" + root.string());
    launch.set_work_dir(work);
    launch.set_umask(022);
    return launch;
}

wire::Channel Node::channel_to_spurd() const {
    return wire::Channel{{.endpoints = {*Endpoint::parse(serve_addr)},
                          .credentials = std::make_shared<auth::PluginCredentials>(auth)}};
}

Node::Srun Node::srun(const v1::StepLaunch& launch) const {
    Srun run;
    run.channel = std::make_unique<wire::Channel>(channel_to_spurd());
    auto stream = run.channel->open("/spur.v1.Agent/RunStep");
    EXPECT_TRUE(stream) << stream.error().text;
    run.stream = std::make_unique<wire::Stream>(std::move(*stream));
    v1::StepInput message;
    *message.mutable_launch() = launch;
    run.send(message);
    return run;
}

void Node::Srun::send(const v1::StepInput& message) const {
    static_cast<void>(stream->write(message.SerializeAsString()));
}

void Node::Srun::input(const std::string& data, bool eof) const {
    v1::StepInput message;
    message.mutable_input()->set_data(data);
    message.mutable_input()->set_eof(eof);
    send(message);
}

Node::StepRun Node::Srun::read(const std::function<bool(const StepRun&)>& until) const {
    StepRun run;
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!until || !until(run)) {
        const auto bytes = stream->read(deadline);
        if (!bytes || !*bytes) break;
        v1::StepOutput message;
        if (!message.ParseFromString(**bytes)) break;
        if (message.has_output()) {
            auto& text = message.output().error_stream() ? run.err : run.out;
            text += message.output().data();
            if (!message.output().error_stream()) run.task_out[message.output().task()] += message.output().data();
        }
        if (message.has_started()) run.started = true;
        if (message.has_exited()) run.status[message.exited().task()] = message.exited().status();
        if (message.has_end()) run.end = message.end().exit_status();
        if (message.has_failed()) run.failure = message.failed().error();
        if (message.has_output() || message.has_started() || message.has_exited() || message.has_aborted()) {
            v1::StepInput confirmed;
            confirmed.mutable_received()->set_count(++received);
            send(confirmed);
        }
    }
    return run;
}

Node::StepRun Node::run_step(const v1::StepLaunch& launch) const { return srun(launch).read(); }

// ---- files ---------------------------------------------------------------------------------------------------------

std::string Node::file(const std::string& name) const {
    std::ifstream stream{work / name, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

bool Node::wait_file(const std::string& name, const std::string& part) {
    return wait_until([&] { return fs::exists(work / name) && file(name).find(part) != std::string::npos; });
}

std::map<std::string, std::string> Node::variables(const std::string& name) const {
    std::map<std::string, std::string> all;
    std::istringstream lines{file(name)};
    std::string line;
    while (std::getline(lines, line))
        if (const auto equals = line.find('='); equals != std::string::npos)
            all[line.substr(0, equals)] = line.substr(equals + 1);
    return all;
}

}  // namespace spur::test
