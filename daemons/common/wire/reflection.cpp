// Server reflection, from the descriptors that protoc wrote when this was built.
#include "daemons/common/wire/reflection.hpp"

#include "daemons/common/wire/server_state.hpp"
#include "grpc/reflection/v1/reflection.pb.h"
#include "spur/schema.pb.h"

#include <map>
#include <set>

// proto/CMakeLists.txt makes the file: a FileDescriptorSet of everything in proto/.
asm(R"(
    .pushsection .rodata
    .globl spur_schema_begin, spur_schema_end
    .hidden spur_schema_begin, spur_schema_end
spur_schema_begin:
    .incbin ")" SPUR_SCHEMA_FILE R"("
spur_schema_end:
    .popsection
)");
extern "C" const char spur_schema_begin[], spur_schema_end[];

namespace spur::wire {
namespace {

namespace v1 = grpc::reflection::v1;

constexpr unsigned max_conversations = 64;  // at a time, of all clients

class Schema {
public:
    static const Schema& instance() {
        static const Schema schema;  // read when somebody first asks
        return schema;
    }

    [[nodiscard]] const std::string* find_file(const std::string& name) const { return find(files_, name); }
    // The file that has a type, service or method, by its full name.
    [[nodiscard]] const std::string* find_symbol(const std::string& name) const { return find(symbols_, name); }
    [[nodiscard]] bool has_type(const std::string& name) const { return types_.contains(name); }

    // A file's descriptor, after those of all it imports.
    void add_with_imports(const std::string& file, std::set<std::string>& added,
                          v1::FileDescriptorResponse& response) const {
        if (!added.insert(file).second) return;
        for (const auto& import : imports_.at(file)) add_with_imports(import, added, response);
        response.add_file_descriptor_proto(files_.at(file));
    }

private:
    Schema() {
        schema::Files all;
        all.ParseFromArray(spur_schema_begin, static_cast<int>(spur_schema_end - spur_schema_begin));
        for (auto& bytes : *all.mutable_file()) {
            schema::File file;
            file.ParseFromString(bytes);
            const auto scope = file.package() + ".";
            for (const auto& type : file.message_type()) add_type(file.name(), scope, type);
            for (const auto& type : file.enum_type()) symbols_[scope + type.name()] = file.name();
            for (const auto& service : file.service()) {
                symbols_[scope + service.name()] = file.name();
                for (const auto& method : service.method())
                    symbols_[scope + service.name() + "." + method.name()] = file.name();
            }
            imports_[file.name()] = {file.dependency().begin(), file.dependency().end()};
            files_[file.name()] = std::move(bytes);
        }
    }

    void add_type(const std::string& file, const std::string& scope, const schema::Type& type) {
        const auto name = scope + type.name();
        symbols_[name] = file;
        types_.insert(name);
        for (const auto& nested : type.nested_type()) add_type(file, name + ".", nested);
        for (const auto& nested : type.enum_type()) symbols_[name + "." + nested.name()] = file;
    }

    static const std::string* find(const std::map<std::string, std::string>& map, const std::string& key) {
        const auto found = map.find(key);
        return found == map.end() ? nullptr : &found->second;
    }

    std::map<std::string, std::string> files_;    // descriptors by name
    std::map<std::string, std::string> symbols_;  // names of files by what is in them
    std::map<std::string, std::vector<std::string>> imports_;
    std::set<std::string> types_;
};

void refuse(v1::ServerReflectionResponse& response, Status status, std::string why) {
    response.mutable_error_response()->set_error_code(static_cast<int>(status));
    response.mutable_error_response()->set_error_message(std::move(why));
}

void give_file(v1::ServerReflectionResponse& response, const std::string* file, std::string_view wanted) {
    if (file == nullptr)
        return refuse(response, Status::not_found, fmt::format("\"{}\" is in no file of this daemon", wanted));
    std::set<std::string> added;
    Schema::instance().add_with_imports(*file, added, *response.mutable_file_descriptor_response());
}

v1::ServerReflectionResponse answer(const v1::ServerReflectionRequest& request, const Service& service) {
    using Request = v1::ServerReflectionRequest;
    const auto& schema = Schema::instance();
    v1::ServerReflectionResponse response;
    response.set_valid_host(request.host());
    *response.mutable_original_request() = request;
    switch (request.message_request_case()) {
        case Request::kFileByFilename: {
            const auto& name = request.file_by_filename();
            give_file(response, schema.find_file(name) != nullptr ? &name : nullptr, name);
            break;
        }
        case Request::kFileContainingSymbol:
            give_file(response, schema.find_symbol(request.file_containing_symbol()), request.file_containing_symbol());
            break;
        case Request::kFileContainingExtension:  // proto3 has none
            give_file(response, nullptr, request.file_containing_extension().containing_type());
            break;
        case Request::kAllExtensionNumbersOfType: {
            const auto& type = request.all_extension_numbers_of_type();
            if (schema.has_type(type))
                response.mutable_all_extension_numbers_response()->set_base_type_name(type);
            else
                give_file(response, nullptr, type);
            break;
        }
        case Request::kListServices:
            for (const auto& name : service.service_names())
                response.mutable_list_services_response()->add_service()->set_name(name);
            break;
        case Request::MESSAGE_REQUEST_NOT_SET:
            refuse(response, Status::invalid_argument, "the request asks for nothing this daemon knows");
    }
    return response;
}

}  // namespace

void serve_reflection(RpcServer& server, const Service& service) {
    const auto open = [&service, conversations = std::make_shared<std::atomic<unsigned>>(0)](const Session& session) {
        session.on_closed([conversations](const std::optional<Error>&) { --*conversations; });
        if (++*conversations > max_conversations)
            return session.close(Error{ErrorCode::limit,
                                       fmt::format("{} clients use reflection already; try later", max_conversations)});
        // One answer at a time: whoever asks and does not read makes us hold no more than that.
        session.on_drained([session] { session.resume(); });
        session.on_half_closed([session] { session.close(); });
        session.on_message([session, &service](const std::string& bytes) {
            v1::ServerReflectionRequest request;
            if (!request.ParseFromString(bytes))
                return session.close(
                    Error{ErrorCode::invalid, "the request is not a well-formed ServerReflectionRequest"});
            session.pause();
            session.send_message(answer(request, service));
        });
    };
    for (const auto* version : {"v1", "v1alpha"})
        server.stream(fmt::format("/grpc.reflection.{}.ServerReflection/ServerReflectionInfo", version), open,
                      Access::anyone);
}

}  // namespace spur::wire
