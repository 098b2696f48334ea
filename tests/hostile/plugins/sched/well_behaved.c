/* Does nothing wrong and nothing else: what the corpus is compared with. */
#include "skeleton.h"
