// What a shared object's dynamic symbol table says, read from the file: nothing is loaded, nothing is trusted.
#pragma once

#include <string>
#include <vector>

namespace spur::check {

struct ElfFile {
    std::vector<std::string> exported;  // defined here, visible to others
    std::vector<std::string> imported;  // must come from elsewhere (weak ones may stay missing and are left out)
    std::vector<std::string> needed;    // libraries it names
};

// Throws Failed with a sentence if the file is not a 64-bit shared object for this machine or is cut short.
ElfFile read_elf(const std::string& file);

}  // namespace spur::check
