// A stock gRPC client against our server: whoever has a .proto file and a gRPC library can talk to Spur.
#include "daemons/common/wire/server.hpp"

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

class WireInterop : public testing::Test {
protected:
    WireInterop() : server_{{}} {
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

    grpc::Status call(const std::string& method, const std::string& body, std::string* reply = nullptr) {
        grpc::CompletionQueue queue;
        auto rpc = stub_->PrepareUnaryCall(&context_, method, buffer_of(body), &queue);
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

TEST_F(WireInterop, ACompressedRequestIsRefusedAsTheProtocolSays) {
    context_.set_compression_algorithm(GRPC_COMPRESS_GZIP);
    const auto status = call("/test/Echo", std::string(10'000, 'x'));
    EXPECT_EQ(status.error_code(), grpc::StatusCode::UNIMPLEMENTED);
}

TEST_F(WireInterop, ABidirectionalStreamWorks) {
    grpc::CompletionQueue queue;
    void* tag = nullptr;
    bool ok = false;
    auto next = [&] {
        EXPECT_TRUE(queue.Next(&tag, &ok));
        return ok;
    };
    auto stream = stub_->PrepareCall(&context_, "/test/Echoes", &queue);
    stream->StartCall(nullptr);
    ASSERT_TRUE(next());
    for (int i = 0; i < 10; ++i) {
        stream->Write(buffer_of(std::to_string(i)), nullptr);
        ASSERT_TRUE(next());
        grpc::ByteBuffer answer;
        stream->Read(&answer, nullptr);
        ASSERT_TRUE(next());
        EXPECT_EQ(bytes_of(answer), std::to_string(i));
    }
    stream->WritesDone(nullptr);
    ASSERT_TRUE(next());
    grpc::ByteBuffer nothing;
    stream->Read(&nothing, nullptr);
    EXPECT_FALSE(next());
    grpc::Status status;
    stream->Finish(&status, nullptr);
    next();
    EXPECT_TRUE(status.ok()) << status.error_message();
}

TEST_F(WireInterop, ADrainingServerIsReportedUnavailable) {
    std::string reply;
    ASSERT_TRUE(call("/test/Echo", "x", &reply).ok());
    server_.drain(std::chrono::seconds{5});
    grpc::ClientContext context;
    grpc::CompletionQueue queue;
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
