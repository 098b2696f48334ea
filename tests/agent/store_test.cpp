// What spurd keeps on its disk.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "daemons/spurd/job_store.hpp"
#include "daemons/spurd/strays.hpp"

namespace spur::agent {
namespace {

namespace fs = std::filesystem;

class AgentStore : public testing::Test {
protected:
    AgentStore() {
        std::string pattern = (fs::temp_directory_path() / "spur-store-XXXXXX").string();
        dir = mkdtemp(pattern.data());
    }
    ~AgentStore() override { fs::remove_all(dir); }
    fs::path dir;
};

TEST_F(AgentStore, ABootIsNewUntilItsJobsHaveBeenDealtWith) {
    const auto store = JobStore::open(dir);
    ASSERT_TRUE(store);
    EXPECT_TRUE(store->is_new_boot("first"));
    EXPECT_TRUE(store->is_new_boot("first")) << "asking changes nothing";
    store->note_boot("first");
    EXPECT_FALSE(store->is_new_boot("first"));
    EXPECT_TRUE(store->is_new_boot("second"));
}

TEST_F(AgentStore, ACookieIsDrawnOnce) {
    const auto first = load_cookie(dir);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->size(), 32u);
    EXPECT_EQ(*load_cookie(dir), *first);
    std::ofstream{dir / "cookie"} << "torn";
    EXPECT_NE(*load_cookie(dir), *first);
    EXPECT_FALSE(load_cookie("/no/such/place"));
    EXPECT_EQ(step_mark("abc", 12, 1, 0), "SPUR_STEP_MARK=abc.12.1.0");
}

}  // namespace
}  // namespace spur::agent
