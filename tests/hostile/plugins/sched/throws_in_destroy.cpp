/* Lets an exception out of destroy(). */
#include <stdexcept>
#define IN_DESTROY throw std::runtime_error("nobody catches this");
#include "skeleton.h"
