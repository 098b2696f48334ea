// What a caller may see of others: PrivateData. Every listing asks here and nowhere else. Operators see everything, and
// everybody sees what is his own; coordinators see what belongs to their accounts.
#pragma once

#include "core/machine/command.hpp"
#include "daemons/common/planning/read_model.hpp"

namespace spur::ctld {

class Privacy {
public:
    Privacy(Actor who, const planning::ReadModel& model);  // which must outlive it

    bool hides(std::uint32_t what) const { return (hidden_ & what) != 0; }  // private_data
    bool shows(const Job& job) const;
    bool shows_secrets(const Job& job) const;  // environment and the like, whatever PrivateData says
    bool shows(const Reservation& reservation) const;
    bool shows(const Account& account) const;
    bool shows(const User& user) const;
    bool shows(const Association& association) const;
    bool shows_usage(const Association& association) const;
    const Actor& who() const { return who_; }

private:
    bool coordinates(std::string_view account) const;

    Actor who_;
    const planning::ReadModel& model_;
    std::uint32_t hidden_;
};

}  // namespace spur::ctld
