/* Fails in create() and does not say why. */
#define IN_CREATE return SPUR_E_IO;
#include "skeleton.h"
