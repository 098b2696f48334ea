// What the leak sanitizer may overlook: libraft 0.15 forgets some memory when loading a damaged log fails, and requests
// whose write failed stay open until the process ends.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() { return "leak:libraft.so.2\n"; }
