/* Fails in create() with a text that has no end and is full of control characters. */
#define IN_CREATE                              \
    memset(err->text, '\n', sizeof err->text); \
    return SPUR_E_UNAVAILABLE;
#include "skeleton.h"
