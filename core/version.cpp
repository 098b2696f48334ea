// The version as the build hands it over.
#include "core/version.hpp"

namespace spur {

const char program_version[] = SPUR_VERSION;

}  // namespace spur
