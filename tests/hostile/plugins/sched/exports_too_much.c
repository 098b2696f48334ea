/* Exports a function besides its entry, which could shadow one of the daemon's or of another plugin's. */
#include "skeleton.h"
__attribute__((visibility("default"))) int SSL_write(void*, const void*, int);
int SSL_write(void* to, const void* bytes, int length) { return (void)to, (void)bytes, length; }
