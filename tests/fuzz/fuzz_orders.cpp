// What an agent is told to run, by the controller and by srun: no order crashes it, no credential counts that the
// controller has not signed, and what a step daemon would get arrives there as it was sent. The input is a message of
// messages: 1 LaunchBatch, 2 StartJob, 3 StepCredential, 4 StepLaunch, 5 SignedCredential.
#include "daemons/common/sign/signing_key.hpp"
#include "daemons/spurd/credential.hpp"
#include "daemons/spurd/step_plan.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/wire_mutator.hpp"

namespace {

using namespace spur;
using namespace spur::agent;

const sign::SigningKey& key() {
    static const auto made = *sign::SigningKey::make();
    return made;
}

const NodeSetup& setup() {
    static const NodeSetup made = [] {
        NodeSetup node;
        node.facts = {.node = "n1", .cluster = "test", .controllers = "c:6817", .config_file = ""};
        node.hardware.sockets = 2;
        node.hardware.cores_per_socket = 2;
        node.hardware.threads_per_core = 2;
        node.hardware.core_cpus = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
        return node;
    }();
    return made;
}

void check_spec(const step::LaunchSpec& spec) {
    const auto arrived = step::decode_spec(encode(spec));
    must(arrived && *arrived == spec);
}

void check_step(const v1::SignedCredential& credential, const v1::StepLaunch& launch, bool is_ours) {
    v1::StepKeys keys;
    keys.add_keys(key().public_key());
    const auto verified =
        verify_credential(credential.SerializeAsString(), {.keys = keys, .node = "n1", .caller = 0, .now = 1000});
    if (!verified) return;
    must(is_ours);
    const StepView view{verified->credential, launch, verified->node, "127.0.0.1:4000", launch.umask()};
    if (const auto spec = plan_step(view, setup(), "/nowhere")) check_spec(*spec);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t longest,
                                               unsigned seed) {
    return mutate_message(data, size, longest, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto parts = fuzz::read_fields(as_text(data, size));
    if (!parts) return -1;
    v1::StepCredential credential;
    v1::StepLaunch launch;
    for (const auto& part : *parts) {
        v1::LaunchBatch batch;
        v1::PrepareJob start;
        v1::SignedCredential strange;
        if (part.number == 1 && batch.ParseFromString(part.text)) check_spec(plan_batch(batch, setup(), "/nowhere"));
        if (part.number == 2 && start.ParseFromString(part.text)) {
            const auto gpus = setup().gpus.bind(gpu_indexes(start.job().share()), {}).variables;
            static_cast<void>(script_environment(start.job(), setup().facts, gpus, "prolog_slurmd"));
        }
        if (part.number == 3) static_cast<void>(credential.ParseFromString(part.text));
        if (part.number == 4) static_cast<void>(launch.ParseFromString(part.text));
        if (part.number == 5 && strange.ParseFromString(part.text)) check_step(strange, launch, false);
    }
    v1::SignedCredential ours;
    ours.set_body(credential.SerializeAsString());
    ours.set_key(key().public_key());
    ours.set_signature(*key().sign(ours.body()));
    check_step(ours, launch, true);
    return 0;
}
