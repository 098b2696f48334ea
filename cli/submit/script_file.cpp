// The batch script: where it is found and read from.
#include "cli/submit/script_file.hpp"

#include "core/slurm/script.hpp"
#include "core/text/lexical.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace spur::cli::submit {
namespace {

bool is_file(const std::string& path, bool must_run) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) return false;
    return !must_run || ::access(path.c_str(), X_OK) == 0;
}

std::string current_directory() {
    char* path = ::getcwd(nullptr, 0);
    std::string text = path ? path : "/";
    std::free(path);
    return text;
}

Result<std::string> read_fd(int fd) {
    std::string text;
    char buffer[65536];
    for (;;) {
        const auto count = ::read(fd, buffer, sizeof buffer);
        if (count == 0) return text;
        if (count > 0)
            text.append(buffer, static_cast<std::size_t>(count));
        else if (errno == EISDIR)
            return std::string();
        else if (errno != EINTR)
            return fail(ErrorCode::limit, "Error reading file");
    }
}

}  // namespace

std::string find_program(const std::string& name, const std::string& directory, bool must_run) {
    if (name.starts_with('/')) return name;
    if (name.starts_with('.')) return directory + "/" + name;
    if (auto here = directory + "/" + name; is_file(here, must_run)) return here;
    const char* path = std::getenv("PATH");
    for (const auto part : split(path ? path : "", ':')) {
        auto candidate = (part.empty() ? directory : std::string(part)) + "/" + name;
        if (is_file(candidate, true)) return candidate;
    }
    return directory + "/" + name;
}

Result<BatchScript> load_script(const SubmitOptions& options, const std::vector<std::string>& command) {
    BatchScript script;
    if (options.wrap) {
        if (!command.empty()) return fail(ErrorCode::limit, "Script arguments not permitted with --wrap option");
        script.text = "#!/bin/sh\n# This script was created by sbatch --wrap.\n\n" + *options.wrap + "\n";
        script.default_name = "wrap";
        return script;
    }
    if (command.empty()) {
        script.default_name = "sbatch";
        SPUR_TRY(script.text, read_fd(STDIN_FILENO));
    } else {
        const auto here = current_directory();
        auto directory = options.chdir.empty() ? here : options.chdir;
        if (!directory.starts_with('/')) directory = here + "/" + directory;
        script.path = find_program(command.front(), directory, false);
        script.arguments.assign(command.begin() + 1, command.end());
        script.default_name = command.front().substr(command.front().rfind('/') + 1);
        const int fd = ::open(script.path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return fail(ErrorCode::limit, "Unable to open file {}", command.front());
        auto text = read_fd(fd);
        ::close(fd);
        if (!text) return fail(ErrorCode::limit, "Error reading file {}", command.front());
        script.text = std::move(*text);
    }
    SPUR_CHECK(check_script(script.text));
    return script;
}

}  // namespace spur::cli::submit
