// What spurd keeps on disk about the jobs of this node, so that it may die at any moment: one directory a job, with the
// controller's orders, the batch script, the steps' sockets and the results that the controller has not heard of yet.
//
// Nothing is synced: what a crash of the machine could lose is lost with the machine's jobs anyway.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "daemons/spurstepd/frame.hpp"
#include "daemons/spurstepd/spec.hpp"
#include "spur/v1/controller.pb.h"

namespace spur::agent {

struct StoredStep {
    std::uint32_t step{};
    bool has_socket{false};
    std::optional<step::StepResult> result;
};

struct StoredJob {
    v1::JobLaunch launch;
    std::string directory;
    std::vector<StoredStep> steps;
    bool epilog_done{false};
};

class JobStore {
public:
    // Makes the directories it needs under `state_dir`.
    static Result<JobStore> open(const std::string& state_dir);

    [[nodiscard]] std::string directory(std::uint32_t job, std::uint32_t attempt) const;
    Result<void> add(const v1::JobLaunch& launch) const;
    Result<void> add_script(const v1::JobLaunch& launch, const std::string& script) const;
    void note_epilog_done(const std::string& directory) const;
    void remove_result(const std::string& directory, std::uint32_t step) const;
    void remove(const std::string& directory) const;

    // All that an earlier spurd left here. Directories that make no sense are reported and removed: what they were for
    // is forgotten.
    [[nodiscard]] std::vector<StoredJob> load();
    // A connection to the step daemon behind this step's socket; none if it has gone.
    [[nodiscard]] static std::optional<step::FrameSocket> connect(const std::string& directory, std::uint32_t step);

    [[nodiscard]] std::optional<step::StepResult> find_result(const std::string& directory, std::uint32_t step) const;

    // Names this memory of jobs. It goes with the directory: a new name tells the controller that jobs may have been
    // forgotten. So does whoever finds that one has been.
    [[nodiscard]] const std::string& id() const { return id_; }
    Result<void> renew_id();

    [[nodiscard]] const std::string& jobs_dir() const { return jobs_dir_; }

    // Whether the machine has booted since note_boot(): once the jobs of before have been dealt with.
    [[nodiscard]] bool is_new_boot(const std::string& boot_id) const;
    void note_boot(const std::string& boot_id) const;

private:
    explicit JobStore(std::string jobs_dir, std::string state_dir)
        : jobs_dir_{std::move(jobs_dir)}, state_dir_{std::move(state_dir)} {}
    std::string jobs_dir_, state_dir_, id_;
};

}  // namespace spur::agent
