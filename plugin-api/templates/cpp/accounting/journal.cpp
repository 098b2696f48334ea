// Lines out, sequences back in.
#include "journal.hpp"

#include <spur/plugin/plugin.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>

using spur::plugin::Records;

namespace {

[[noreturn]] void fail_io(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

// Tabs, newlines and backslashes would break the format.
void append_escaped(std::string& line, std::string_view text) {
    for (const char c : text) {
        if (c == '\t')
            line += "\\t";
        else if (c == '\n')
            line += "\\n";
        else if (c == '\\')
            line += "\\\\";
        else
            line += c;
    }
}

void append_field(std::string& line, const spur_field& field) {
    line += '\t';
    line += field.name;
    line += '=';
    if (field.kind == SPUR_FIELD_INT) line += std::to_string(field.integer);
    if (field.kind == SPUR_FIELD_REAL) line += std::to_string(field.real);
    if (field.kind == SPUR_FIELD_TEXT || field.kind == SPUR_FIELD_BYTES)
        append_escaped(line, spur::plugin::view(field.text));
    if (field.kind == SPUR_FIELD_TRES)
        for (const auto& one : Records<spur_tres>(field.tres)) {
            if (line.back() != '=') line += ',';
            append_escaped(line, spur::plugin::view(one.name));
            line += '=' + std::to_string(one.count);
        }
}

// "cluster<TAB>stream" as the journal has it.
std::string name_of(std::string_view cluster, std::string_view stream) {
    std::string name;
    append_escaped(name, cluster);
    name += '\t';
    append_escaped(name, stream);
    return name;
}

}  // namespace

Journal::Journal(std::string path) : path_(std::move(path)) {
    file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file_ < 0) fail_io("cannot open the journal " + path_);
    try {
        recover();
    } catch (...) {
        close(file_);
        throw;
    }
}
Journal::~Journal() { close(file_); }

// Reads the sequences back and cuts off a line that a crash left unfinished.
void Journal::recover() {
    std::ifstream in(path_);
    off_t whole = 0;
    for (std::string line; std::getline(in, line) && !in.eof();) {
        whole += static_cast<off_t>(line.size()) + 1;
        const auto tab = line.find('\t', std::min(line.size(), line.find('\t') + 1));
        if (tab == std::string::npos) continue;
        auto& highest = stored_[line.substr(0, tab)];
        highest = std::max<std::uint64_t>(highest, std::strtoull(line.c_str() + tab + 1, nullptr, 10));
    }
    if (ftruncate(file_, whole) != 0) fail_io("cannot repair the journal " + path_);
}

// The last line of a batch has its last number, whether there is a row for it or not.
void Journal::store(const spur_batch& batch) {
    const std::scoped_lock hold(lock_);
    const auto name = name_of(spur::plugin::view(batch.cluster), spur::plugin::view(batch.stream));
    const auto known = stored_.find(name);
    const auto stored_to = batch.first == 0 || known == stored_.end() ? 0 : known->second;
    std::string lines;
    for (const auto& row : Records<spur_row>(batch.rows)) {
        if (row.sequence != 0 && row.sequence <= stored_to) continue;
        lines += name + '\t' + std::to_string(row.sequence) + '\t' + std::to_string(row.table) + '\t' +
                 std::to_string(row.removed);
        for (const auto& field : Records<spur_field>(row.fields)) append_field(lines, field);
        lines += '\n';
    }
    if (batch.last > stored_to) lines += name + '\t' + std::to_string(batch.last) + "\t0\t0\n";
    const auto before = lseek(file_, 0, SEEK_END);
    const auto written = write(file_, lines.data(), lines.size());
    if (written != static_cast<ssize_t>(lines.size()) || fdatasync(file_) != 0) {
        const int why = written >= 0 && errno == 0 ? ENOSPC : errno;
        if (ftruncate(file_, before) != 0) {
        }  // nothing more can be done; the next start cuts off what is unfinished
        errno = why;
        fail_io("cannot write to the journal " + path_);
    }
    auto& highest = stored_[name];
    highest = std::max(highest, batch.last);
}

std::uint64_t Journal::stored_up_to(std::string_view cluster, std::string_view stream, std::uint64_t from) const {
    const std::scoped_lock hold(lock_);
    const auto found = stored_.find(name_of(cluster, stream));
    const auto before = from == 0 ? 0 : from - 1;
    return found != stored_.end() ? std::max(found->second, before) : before;
}
