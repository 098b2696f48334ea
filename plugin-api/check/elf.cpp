// Section headers, dynamic symbols and DT_NEEDED, every offset checked against the file's length.
#include "elf.hpp"

#include "case.hpp"

#include <elf.h>

#include <array>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace spur::check {
namespace {

#if defined(__x86_64__)
constexpr auto this_machine = EM_X86_64;
#elif defined(__aarch64__)
constexpr auto this_machine = EM_AARCH64;
#elif defined(__riscv)
constexpr auto this_machine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr auto this_machine = EM_PPC64;
#else
#error "which ELF machine is this?"
#endif

class Image {
public:
    explicit Image(const std::string& file) : file_(file) {
        std::ifstream in(file, std::ios::binary);
        require(in.good(), "{} cannot be read", file);
        bytes_.assign(std::istreambuf_iterator<char>(in), {});
    }

    template <class T>
    T at(std::uint64_t offset) const {
        require(offset <= bytes_.size() && sizeof(T) <= bytes_.size() - offset,
                "{} is cut short: it ends inside its headers", file_);
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    std::string text(const Elf64_Shdr& strings, std::uint64_t offset) const {
        const auto begin = strings.sh_offset + offset;
        const auto end = bytes_.find('\0', begin);
        require(offset < strings.sh_size && begin < bytes_.size() && end != std::string::npos,
                "{} is damaged: a name lies outside its string table", file_);
        return bytes_.substr(begin, end - begin);
    }

private:
    const std::string& file_;
    std::string bytes_;
};

Elf64_Ehdr header_of(const Image& image, const std::string& file) {
    const auto magic = image.at<std::array<char, SELFMAG>>(0);
    require(std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0, "{} is not an ELF file; a plugin is a shared object",
            file);
    const auto header = image.at<Elf64_Ehdr>(0);
    require(header.e_ident[EI_CLASS] == ELFCLASS64, "{} is not a 64-bit object", file);
    require(header.e_type == ET_DYN, "{} is an ELF file but not a shared object; link it with -shared", file);
    require(header.e_machine == this_machine, "{} was built for another kind of processor", file);
    require(header.e_shoff != 0, "{} has no section headers; strip it with `strip`, not more", file);
    return header;
}

void read_symbols(const Image& image, const Elf64_Shdr& table, const Elf64_Shdr& names, ElfFile& out) {
    for (std::uint64_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
        const auto symbol = image.at<Elf64_Sym>(table.sh_offset + at);
        const auto binding = ELF64_ST_BIND(symbol.st_info);
        if (binding == STB_LOCAL) continue;
        if (symbol.st_shndx == SHN_UNDEF) {
            if (binding != STB_WEAK) out.imported.push_back(image.text(names, symbol.st_name));
        } else if (symbol.st_shndx != SHN_ABS || symbol.st_value != 0) {  // absolute zeros are version names
            out.exported.push_back(image.text(names, symbol.st_name));
        }
    }
}

void read_needed(const Image& image, const Elf64_Shdr& dynamic, const Elf64_Shdr& names, ElfFile& out) {
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.sh_size; at += sizeof(Elf64_Dyn)) {
        const auto entry = image.at<Elf64_Dyn>(dynamic.sh_offset + at);
        if (entry.d_tag == DT_NULL) return;
        if (entry.d_tag == DT_NEEDED) out.needed.push_back(image.text(names, entry.d_un.d_val));
    }
}

}  // namespace

ElfFile read_elf(const std::string& file) {
    const Image image(file);
    const auto header = header_of(image, file);
    const auto section = [&](std::uint64_t i) {
        require(i < header.e_shnum, "{} is damaged: it names a section that does not exist", file);
        return image.at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    };
    ElfFile out;
    for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
        const auto here = section(i);
        if (here.sh_type == SHT_DYNSYM) read_symbols(image, here, section(here.sh_link), out);
        if (here.sh_type == SHT_DYNAMIC) read_needed(image, here, section(here.sh_link), out);
    }
    return out;
}

}  // namespace spur::check
