// Fair Tree and the classic formula over small trees whose answers are known, and their laws over random ones.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tree.hpp"

namespace spur::fairshare {
namespace {

Line account(std::uint32_t parent, std::uint32_t shares, double usage) { return {parent, shares, false, false, usage}; }
Line user(std::uint32_t parent, std::uint32_t shares, double usage) { return {parent, shares, false, true, usage}; }
Line root(double usage) { return {no_parent, 1, false, false, usage}; }

std::vector<double> factors(const std::vector<Share>& shares, std::initializer_list<std::size_t> which) {
    std::vector<double> found;
    for (const auto i : which) found.push_back(shares[i].factor);
    return found;
}

TEST(T24Tree, NobodyHasUsedAnythingSoAllAreFirst) {
    const std::vector<Line> lines{root(0), account(0, 10, 0), user(1, 1, 0), user(1, 5, 0), user(0, 1, 0)};
    EXPECT_EQ(factors(fair_tree(lines), {2, 3, 4}), (std::vector<double>{1, 1, 1}));
}

TEST(T24Tree, TheUserOfABetterAccountComesBeforeAllOfAWorseOne) {
    // phys has used twice its share; within it bob has used nothing, and still comes after everybody of chem.
    const std::vector<Line> lines{root(100),     account(0, 1, 80), account(0, 1, 20), user(1, 1, 80),
                                  user(1, 1, 0), user(2, 1, 15),    user(2, 1, 5)};
    const auto shares = fair_tree(lines);
    EXPECT_EQ(factors(shares, {6, 5, 4, 3}), (std::vector<double>{1.0, 0.75, 0.5, 0.25}));
    EXPECT_DOUBLE_EQ(shares[1].level, 0.5 / 0.8);
    EXPECT_DOUBLE_EQ(shares[2].level, 0.5 / 0.2);
    EXPECT_TRUE(std::isinf(shares[4].level));
}

TEST(T24Tree, EqualUsersShareAPlaceAndTheNextIsLower) {
    const std::vector<Line> lines{root(40), user(0, 1, 10), user(0, 1, 10), user(0, 1, 20)};
    EXPECT_EQ(factors(fair_tree(lines), {1, 2, 3}), (std::vector<double>{1.0, 1.0, 1.0 / 3}));
}

TEST(T24Tree, MembersOfEqualAccountsAreRankedTogether) {
    const std::vector<Line> lines{root(40),      account(0, 1, 20), account(0, 1, 20), user(1, 1, 15),
                                  user(1, 1, 5), user(2, 1, 12),    user(2, 1, 8)};
    EXPECT_EQ(factors(fair_tree(lines), {4, 6, 5, 3}), (std::vector<double>{1.0, 0.75, 0.5, 0.25}));
}

TEST(T24Tree, SharesAreFractionsOfTheirLevel) {
    const std::vector<Line> lines{root(0),           user(0, 1, 0), account(0, 10, 0),
                                  account(0, 30, 0), user(2, 7, 0), user(2, 1, 0)};
    const auto shares = fair_tree(lines);
    EXPECT_NEAR(shares[1].normalised_shares, 0.024390, 1e-6);
    EXPECT_NEAR(shares[2].normalised_shares, 0.243902, 1e-6);
    EXPECT_DOUBLE_EQ(shares[4].normalised_shares, 0.875);
    EXPECT_DOUBLE_EQ(shares[5].normalised_shares, 0.125);
    EXPECT_EQ(shares[0].normalised_shares, 0);
    EXPECT_EQ(shares[0].effective_usage, 1);
}

TEST(T24Tree, WithoutSharesAUserComesLastAmongSiblings) {
    const std::vector<Line> lines{root(10), user(0, 0, 0), user(0, 1, 10)};
    EXPECT_EQ(factors(fair_tree(lines), {1, 2}), (std::vector<double>{0.5, 1}));
}

TEST(T24Tree, AnAccountWithItsParentsSharesIsNoLevel) {
    // What is below account 2 competes with user 3 as if it were in account 1.
    const std::vector<Line> lines{
        root(100), account(0, 1, 100), {1, 0, true, false, 60}, user(1, 1, 40), user(2, 1, 60)};
    const auto shares = fair_tree(lines);
    EXPECT_DOUBLE_EQ(shares[3].normalised_shares, 0.5);
    EXPECT_DOUBLE_EQ(shares[4].normalised_shares, 0.5);
    EXPECT_DOUBLE_EQ(shares[4].effective_usage, 0.6);
    EXPECT_GT(shares[3].factor, shares[4].factor);
}

// Figures of a real Slurm: shares of 0, an account and a user with their parent's shares.
TEST(T24Tree, TheWholeTreeIsRankedAsSlurmDoes) {
    std::vector<Line> lines{root(7931),           user(0, 1, 0),    account(0, 1, 0),     user(2, 1, 0),
                            account(0, 10, 3469), user(4, 7, 3317), user(4, 0, 0),        account(4, 0, 151),
                            user(7, 0, 75),       user(7, 3, 75),   account(0, 30, 4461), account(10, 10, 4461),
                            user(11, 5, 4461)};
    lines[7].shares_parent = lines[8].shares_parent = true;
    const auto shares = fair_tree(lines);
    const std::vector<double> sevenths{7, 7, 2, 1, 4, 3, 5};
    std::vector<double> found;
    for (const auto i : {1, 3, 5, 6, 8, 9, 12}) found.push_back(shares[static_cast<std::size_t>(i)].factor * 7);
    EXPECT_EQ(found, sevenths);
    EXPECT_NEAR(shares[4].level, 0.544304, 1e-3);
    EXPECT_NEAR(shares[5].level, 0.732071, 1e-3);
    EXPECT_NEAR(shares[9].level, 13.696096, 0.2);
    EXPECT_NEAR(shares[8].normalised_shares, 0.238095, 1e-6);
    EXPECT_NEAR(shares[9].normalised_shares, 0.3, 1e-6);
    EXPECT_NEAR(shares[12].effective_usage, 1, 1e-6);
}

TEST(T24Tree, TheClassicFormulaIsSlurms) {
    // Figures of a real Slurm with PriorityFlags=NO_FAIR_TREE.
    const std::vector<Line> lines{root(4063),           user(0, 1, 0),        account(0, 1, 0), account(0, 10, 0),
                                  account(0, 30, 4063), account(4, 10, 4063), user(5, 5, 4063), user(3, 7, 0)};
    const auto shares = classic(lines, 1);
    EXPECT_NEAR(shares[0].factor, 0.5, 1e-6);
    EXPECT_NEAR(shares[1].factor, 1.0, 1e-6);
    EXPECT_NEAR(shares[4].normalised_shares, 0.714286, 1e-6);
    EXPECT_NEAR(shares[4].factor, 0.378929, 1e-6);
    EXPECT_NEAR(shares[6].normalised_shares, 0.714286, 1e-6);
    EXPECT_NEAR(shares[6].factor, 0.378929, 1e-6);
    EXPECT_NEAR(shares[7].normalised_shares, 0.238095, 1e-6);
    EXPECT_GT(classic(lines, 5)[6].factor, shares[6].factor) << "dampening softens what usage does";
}

TEST(T24Tree, ClassicMixesAUsersUsageWithTheAccounts) {
    const std::vector<Line> lines{root(100), account(0, 1, 60), account(0, 1, 40), user(1, 1, 60), user(1, 1, 0)};
    const auto shares = classic(lines, 1);
    EXPECT_DOUBLE_EQ(shares[4].effective_usage, 0.3);  // half of what its account has used
    EXPECT_DOUBLE_EQ(shares[3].effective_usage, 0.6);
    EXPECT_DOUBLE_EQ(shares[4].factor, std::exp2(-0.3 / 0.25));
}

// ---- laws ----------------------------------------------------------------------------------------------------------

std::vector<Line> random_tree() {
    const auto count = *rc::gen::inRange<std::uint32_t>(1, 40);
    std::vector<Line> lines{root(0)};
    std::vector<std::uint32_t> accounts{0};
    for (std::uint32_t i = 1; i < count; ++i) {
        Line line;
        line.parent = *rc::gen::elementOf(accounts);
        line.is_user = *rc::gen::arbitrary<bool>();
        line.shares = *rc::gen::inRange<std::uint32_t>(0, 5);
        line.shares_parent = *rc::gen::inRange(0, 8) == 0;
        if (line.is_user) line.usage = *rc::gen::inRange(0, 4) * 100.0;
        lines.push_back(line);
        if (!line.is_user) accounts.push_back(i);
    }
    for (auto i = lines.size(); i-- > 1;) lines[lines[i].parent].usage += lines[i].usage;
    return lines;
}

TEST(T24Tree, EveryNumberIsFiniteAndInItsRange) {
    EXPECT_TRUE(rc::check([] {
        const auto lines = random_tree();
        for (const auto& shares : {fair_tree(lines), classic(lines, 1)})
            for (const auto& share : shares) {
                RC_ASSERT(share.factor >= 0 && share.factor <= 1);
                RC_ASSERT(share.normalised_shares >= 0 && share.normalised_shares <= 1);
                RC_ASSERT(share.normalised_usage >= 0 && share.normalised_usage <= 1);
                RC_ASSERT(share.effective_usage >= 0 && share.effective_usage <= 1);
                RC_ASSERT(!std::isnan(share.level));
            }
    }));
}

// Fair Tree's promise, for accounts and for users.
TEST(T24Tree, WhoeverIsBelowABetterSiblingIsNoWorse) {
    EXPECT_TRUE(rc::check([] {
        const auto lines = random_tree();
        const auto shares = fair_tree(lines);
        const auto below = [&](std::uint32_t line, std::uint32_t top) {
            while (line != top && line != no_parent) line = lines[line].parent;
            return line == top;
        };
        for (std::uint32_t a = 1; a < lines.size(); ++a)
            for (std::uint32_t b = 1; b < lines.size(); ++b) {
                const bool transparent = lines[a].shares_parent || lines[b].shares_parent;
                if (a == b || lines[a].parent != lines[b].parent || transparent) continue;
                if (!(shares[a].level > shares[b].level)) continue;
                for (std::uint32_t x = 1; x < lines.size(); ++x)
                    for (std::uint32_t y = 1; y < lines.size(); ++y)
                        if (lines[x].is_user && lines[y].is_user && below(x, a) && below(y, b))
                            RC_ASSERT(shares[x].factor >= shares[y].factor);
            }
    }));
}

TEST(T24Tree, TheOrderOfTheLinesDoesNotMatter) {
    EXPECT_TRUE(rc::check([] {
        // The same tree with its users in another order: everybody keeps their factor.
        const auto lines = random_tree();
        std::vector<std::uint32_t> order(lines.size());
        std::iota(order.begin(), order.end(), 0U);
        const auto first_user =
            std::stable_partition(order.begin(), order.end(), [&](std::uint32_t i) { return !lines[i].is_user; });
        std::reverse(first_user, order.end());
        std::vector<std::uint32_t> place(lines.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
        std::vector<Line> shuffled;
        for (const auto i : order) {
            shuffled.push_back(lines[i]);
            if (i > 0) shuffled.back().parent = place[lines[i].parent];
        }
        const auto before = fair_tree(lines), after = fair_tree(shuffled);
        for (std::uint32_t i = 0; i < lines.size(); ++i) RC_ASSERT(before[i].factor == after[place[i]].factor);
    }));
}

}  // namespace
}  // namespace spur::fairshare
