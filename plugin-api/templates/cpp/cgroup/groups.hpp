// The policy: scope -> directory. Everything it knows is in the file system, so a restarted daemon finds it again.
#pragma once

#include <spur/plugin/cgroup.h>
#include <spur/plugin/plugin.hpp>

#include <cstdint>
#include <string>
#include <vector>

class Groups {
public:
    explicit Groups(std::string root);  // throws std::system_error

    void make(const spur_cgroup_scope& scope) const;
    // Between fork and exec: no allocation, only open, write and close. The errno, or 0.
    int attach(const spur_cgroup_scope& scope, std::int32_t pid) const noexcept;
    int open_for_clone(const spur_cgroup_scope& scope) const;  // a descriptor, for CLONE_INTO_CGROUP
    void freeze(const spur_cgroup_scope& scope, bool frozen, const spur::plugin::Stop& stop) const;
    void signal(const spur_cgroup_scope& scope, int number, const spur::plugin::Stop& stop) const;
    std::vector<std::int32_t> processes(const spur_cgroup_scope& scope) const;  // and those below
    bool remove(const spur_cgroup_scope& scope) const;                          // false: processes live

private:
    struct Path {  // built without allocating
        char text[512];
    };
    Path path_of(const spur_cgroup_scope& scope, const char* file = nullptr) const noexcept;
    std::string root_;
};
