// A stock gRPC client against our server: whoever has a .proto file and a gRPC library can talk to Spur.
#include "daemons/common/wire/server.hpp"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

namespace spur::wire {
namespace {

grpc::ByteBuffer buffer_of(const std::string& bytes) {
    const grpc::Slice slice{bytes};
    return {&slice, 1};
}

std::string bytes_of(const grpc::ByteBuffer& buffer) {
    std::vector<grpc::Slice> slices;
    std::string bytes;
    if (buffer.Dump(&slices).ok())
        for (const auto& slice : slices) bytes.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
    return bytes;
}

// Takes whoever shows the one credential it knows.
struct OneCredential : Authenticator {
    Result<Verdict> verify(const CredentialRequest&, std::string_view credential, const Peer&) override {
        if (credential != "good") return fail(ErrorCode::denied, "no good credential");
        return Caller{7, 7, "seven"};
    }
};

class WireInterop : public testing::Test {
protected:
    WireInterop() : server_{{.authenticator = std::make_shared<OneCredential>()}} {
        context_.AddMetadata("spur-auth", "good");
        server_.unary("/test/Echo", [](Call call) { call.reply(std::string{call.request()}); });
        server_.unary("/test/Fail", [](Call call) {
            call.fail({ErrorCode::conflict, "node \"n\u00fc1\" is busy"}, {{"x-detail", "seven"}});
        });
        server_.unary("/test/Meta", [](Call call) { call.reply(*call.metadata().find("x-trace")); });
        server_.stream("/test/Echoes", [](Session session) {
            session.on_message([session](std::string message) { session.send(std::move(message)); });
            session.on_half_closed([session] { session.close(); });
        });
        EXPECT_TRUE(server_.start());
        channel_ =
            grpc::CreateChannel("127.0.0.1:" + std::to_string(server_.port()), grpc::InsecureChannelCredentials());
        stub_ = std::make_unique<grpc::GenericStub>(channel_);
    }

    grpc::Status call(const std::string& method, const std::string& body, std::string* reply = nullptr,
                      grpc::ClientContext* context = nullptr) {
        grpc::CompletionQueue queue;
        auto rpc = stub_->PrepareUnaryCall(context != nullptr ? context : &context_, method, buffer_of(body), &queue);
        rpc->StartCall();
        grpc::ByteBuffer answer;
        grpc::Status status;
        rpc->Finish(&answer, &status, this);
        void* tag = nullptr;
        bool ok = false;
        EXPECT_TRUE(queue.Next(&tag, &ok));
        if (reply != nullptr && status.ok()) *reply = bytes_of(answer);
        return status;
    }

    // Sends each message and reads one for it; then the stream must end with OK.
    std::vector<std::string> converse(const std::string& method, const std::vector<std::string>& messages,
                                      grpc::ClientContext* context = nullptr) {
        grpc::CompletionQueue queue;
        void* tag = nullptr;
        bool ok = false;
        const auto next = [&] {
            EXPECT_TRUE(queue.Next(&tag, &ok));
            return ok;
        };
        std::vector<std::string> answers;
        auto stream = stub_->PrepareCall(context != nullptr ? context : &context_, method, &queue);
        stream->StartCall(nullptr);
        EXPECT_TRUE(next());
        for (const auto& message : messages) {
            stream->Write(buffer_of(message), nullptr);
            EXPECT_TRUE(next());
            grpc::ByteBuffer answer;
            stream->Read(&answer, nullptr);
            if (!next()) break;
            answers.push_back(bytes_of(answer));
        }
        stream->WritesDone(nullptr);
        next();
        grpc::ByteBuffer nothing;
        stream->Read(&nothing, nullptr);
        EXPECT_FALSE(next());
        grpc::Status status;
        stream->Finish(&status, nullptr);
        next();
        EXPECT_TRUE(status.ok()) << status.error_message();
        return answers;
    }

    RpcServer server_;
    std::shared_ptr<grpc::Channel> channel_;
    std::unique_ptr<grpc::GenericStub> stub_;
    grpc::ClientContext context_;
};

TEST_F(WireInterop, AUnaryCallWorks) {
    std::string reply;
    const auto status = call("/test/Echo", std::string(100'000, 'x'), &reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(reply, std::string(100'000, 'x'));
}

TEST_F(WireInterop, MetadataArrives) {
    context_.AddMetadata("x-trace", "abc");
    std::string reply;
    ASSERT_TRUE(call("/test/Meta", "", &reply).ok());
    EXPECT_EQ(reply, "abc");
}

TEST_F(WireInterop, AnErrorHasItsStatusSentenceAndTrailers) {
    const auto status = call("/test/Fail", "");
    EXPECT_EQ(status.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(status.error_message(), "node \"n\u00fc1\" is busy");
    const auto& trailers = context_.GetServerTrailingMetadata();
    const auto code = trailers.find("spur-error"), detail = trailers.find("x-detail");
    ASSERT_NE(code, trailers.end());
    ASSERT_NE(detail, trailers.end());
    EXPECT_EQ(std::string(code->second.data(), code->second.size()), "conflict");
    EXPECT_EQ(std::string(detail->second.data(), detail->second.size()), "seven");
}

TEST_F(WireInterop, AnUnknownMethodIsUnimplemented) {
    const auto status = call("/test/NoSuch", "x");
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(WireInterop, ACompressedCallWorks) {
    context_.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    std::string reply;
    const auto status = call("/test/Echo", std::string(10'000, 'x'), &reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(reply, std::string(10'000, 'x'));
}

TEST_F(WireInterop, AnEncodingNobodyKnowsIsUnimplemented) {
    context_.set_compression_algorithm(GRPC_COMPRESS_DEFLATE);
    const auto status = call("/test/Echo", std::string(10'000, 'x'));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
    EXPECT_EQ(status.error_message(),
              "/test/Echo: messages encoded as \"deflate\" are not understood here; send gzip or none");
}

TEST_F(WireInterop, MessagesOfACompressedStreamArrive) {
    context_.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    const std::vector<std::string> messages{std::string(50'000, 'a'), "b", std::string(2'000'000, 'c')};
    EXPECT_EQ(converse("/test/Echoes", messages), messages);
}

TEST_F(WireInterop, AProbeWithoutACredentialLearnsThatTheServerServes) {
    namespace v1 = grpc::health::v1;
    const auto check = [&](const std::string& service) {
        grpc::ClientContext stranger;
        v1::HealthCheckRequest request;
        request.set_service(service);
        std::string bytes;
        const auto status = call("/grpc.health.v1.Health/Check", request.SerializeAsString(), &bytes, &stranger);
        v1::HealthCheckResponse response;
        EXPECT_TRUE(response.ParseFromString(bytes));
        return status.ok() ? v1::HealthCheckResponse::ServingStatus_Name(response.status()) : status.error_message();
    };
    EXPECT_EQ(check(""), "SERVING");
    EXPECT_EQ(check("test"), "SERVING");
    EXPECT_EQ(check("grpc.health.v1.Health"), "SERVING");
    EXPECT_EQ(check("no.such"), "service \"no.such\" is not served here; reflection lists those that are");
    server_.set_serving(false);
    EXPECT_EQ(check(""), "NOT_SERVING");
    grpc::ClientContext stranger;
    EXPECT_EQ(call("/test/Echo", "", nullptr, &stranger).error_code(), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(WireInterop, AWatcherHearsOfEveryChangeAndOfTheEnd) {
    namespace v1 = grpc::health::v1;
    grpc::ClientContext stranger;
    grpc::CompletionQueue queue;
    void* tag = nullptr;
    bool ok = false;
    const auto next = [&] {
        EXPECT_TRUE(queue.Next(&tag, &ok));
        return ok;
    };
    auto stream = stub_->PrepareCall(&stranger, "/grpc.health.v1.Health/Watch", &queue);
    stream->StartCall(nullptr);
    ASSERT_TRUE(next());
    stream->WriteLast(buffer_of(v1::HealthCheckRequest{}.SerializeAsString()), {}, nullptr);
    ASSERT_TRUE(next());
    const auto hear = [&] {
        grpc::ByteBuffer answer;
        stream->Read(&answer, nullptr);
        v1::HealthCheckResponse response;
        EXPECT_TRUE(next() && response.ParseFromString(bytes_of(answer)));
        return response.status();
    };
    EXPECT_EQ(hear(), v1::HealthCheckResponse::SERVING);
    server_.set_serving(false);
    EXPECT_EQ(hear(), v1::HealthCheckResponse::NOT_SERVING);
    server_.set_serving(true);
    EXPECT_EQ(hear(), v1::HealthCheckResponse::SERVING);
    server_.drain(std::chrono::seconds{5});
    EXPECT_EQ(hear(), v1::HealthCheckResponse::NOT_SERVING);
    grpc::Status status;
    stream->Finish(&status, nullptr);
    next();
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(WireInterop, ReflectionListsWhatIsServedAndDescribesIt) {
    namespace v1 = grpc::reflection::v1;
    for (const std::string version : {"v1", "v1alpha"}) {
        v1::ServerReflectionRequest list, file, symbol, nested, unknown;
        list.set_list_services("");
        file.set_file_by_filename("spur/v1/controller.proto");
        symbol.set_file_containing_symbol("grpc.health.v1.Health.Check");
        nested.set_file_containing_symbol("grpc.health.v1.HealthCheckResponse.ServingStatus");
        unknown.set_file_containing_symbol("no.such.Thing");
        std::vector<std::string> requests;
        for (const auto* request : {&list, &file, &symbol, &nested, &unknown})
            requests.push_back(request->SerializeAsString());
        grpc::ClientContext stranger;
        const auto answers =
            converse("/grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo", requests, &stranger);
        ASSERT_EQ(answers.size(), requests.size());
        std::vector<v1::ServerReflectionResponse> responses(answers.size());
        for (std::size_t i = 0; i < answers.size(); ++i) ASSERT_TRUE(responses[i].ParseFromString(answers[i]));

        std::vector<std::string> services;
        for (const auto& service : responses[0].list_services_response().service()) services.push_back(service.name());
        EXPECT_EQ(services, (std::vector<std::string>{"grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                                      "grpc.reflection.v1alpha.ServerReflection", "test"}));
        EXPECT_EQ(responses[1].file_descriptor_response().file_descriptor_proto_size(), 4);  // it imports three
        EXPECT_EQ(responses[2].file_descriptor_response().file_descriptor_proto_size(), 1);
        EXPECT_EQ(responses[3].file_descriptor_response().file_descriptor_proto(0),
                  responses[2].file_descriptor_response().file_descriptor_proto(0));
        EXPECT_EQ(responses[4].error_response().error_code(), grpc::StatusCode::NOT_FOUND);
        EXPECT_EQ(responses[4].error_response().error_message(), "\"no.such.Thing\" is in no file of this daemon");
    }
}

TEST_F(WireInterop, ABidirectionalStreamWorks) {
    const std::vector<std::string> messages{"zero", "one", "", "three"};
    EXPECT_EQ(converse("/test/Echoes", messages), messages);
}

TEST_F(WireInterop, ADrainingServerIsReportedUnavailable) {
    std::string reply;
    ASSERT_TRUE(call("/test/Echo", "x", &reply).ok());
    server_.drain(std::chrono::seconds{5});
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
    context.AddMetadata("spur-auth", "good");
    auto rpc = stub_->PrepareUnaryCall(&context, "/test/Echo", buffer_of("y"), &queue);
    rpc->StartCall();
    grpc::ByteBuffer answer;
    grpc::Status status;
    rpc->Finish(&answer, &status, nullptr);
    void* tag = nullptr;
    bool ok = false;
    ASSERT_TRUE(queue.Next(&tag, &ok));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNAVAILABLE);
}

}  // namespace
}  // namespace spur::wire
