#include <map>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "models/jobs/schedulers/fair_share.hpp"
#include "small_jobs.hpp"

using namespace athanor;

namespace {

/// Gives a job its user and its queue.
void belongs(JobList& list, std::uint32_t job, const char* user, const char* queue) {
  list.jobs[JobId{job}].user = list.name(user);
  list.jobs[JobId{job}].queue = list.name(queue);
}

}  // namespace

TEST_CASE("the fair tree ranks accounts before users, and those that are level alike") {
  // Accounts: 0 has used 10 of 40 with half of the shares, 1 the rest. Users of 0: the second has used nothing.
  const std::vector<double> factors =
      fair_tree({{0, 1, 1, 10}, {0, 1, 1, 0}, {1, 1, 1, 10}, {1, 1, 2, 20}, {1, 1, 1, 0}});
  CHECK(factors == std::vector<double>{4.0 / 5, 5.0 / 5, 2.0 / 5, 2.0 / 5, 3.0 / 5});
  CHECK(fair_tree({{0, 1, 1, 0}, {1, 5, 1, 0}, {2, 1, 3, 0}}) == std::vector<double>{1, 1, 1});
}

TEST_CASE("the classic factor is a half for who has used just their share, and 1 for who has used nothing") {
  const std::vector<double> even = classic_fair_share({{0, 1, 1, 50}, {1, 1, 1, 50}}, 1);
  CHECK(even[0] == doctest::Approx(0.5));
  CHECK(even[1] == doctest::Approx(0.5));
  CHECK(classic_fair_share({{0, 1, 1, 50}, {1, 1, 1, 0}}, 1)[1] == doctest::Approx(1));
  CHECK(classic_fair_share({{0, 1, 1, 50}, {1, 1, 1, 0}}, 2)[0] == doctest::Approx(0.5));  // twice its share, dampened
}

TEST_CASE("with age alone Slurm's order is that of submission") {
  std::mt19937_64 random(19);
  for (const char* backfill : {"none", "easy", "conservative"}) {
    std::vector<SmallJob> jobs;
    for (int i = 0; i < 100; ++i) {
      jobs.push_back(
          {i * 7, 1 + static_cast<std::int64_t>(random() % 900), 1 + static_cast<std::uint32_t>(random() % 8)});
    }
    const JobList list = list_of(jobs);
    const std::string keys = std::string(R"({"backfill": ")") + backfill + R"("})";
    const JobsRun fifo = run_of(list, equal_nodes(1, 8), "fifo", keys);
    const JobsRun slurm = run_of(list, equal_nodes(1, 8), "slurm", keys);
    for (const JobId job : list.jobs.ids()) { CHECK(slurm.outcomes[job].started == fifo.outcomes[job].started); }
  }
}

TEST_CASE("users with fair shares of 3 to 1 have GPU time in that proportion while both wait") {
  const auto ratio = [](const char* kind, bool own_accounts) {
    JobList list = list_of(std::vector<SmallJob>(4'000, SmallJob{0, 100, 1}));
    for (std::uint32_t job = 0; job < list.size(); ++job) {
      const char* user = job % 2 == 0 ? "ann" : "bob";
      belongs(list, job, user, own_accounts ? user : "all");
    }
    JobsRules rules;
    rules.horizon = wall_seconds(20'000);  // less than half of the work
    const std::string whose = own_accounts ? R"("account": "ann")" : R"("account": "all", "user": "ann")";
    const std::string keys = R"({"weight_fair_share": 100000, "weight_age": 0, "calc_period": "10 s",
      "shares": [{)" + whose +
                             R"(, "shares": 3}], "fair_share": ")" + kind + R"("})";
    const JobsRun run = run_of(list, equal_nodes(1, 8), "slurm", keys, "best_fit", rules);
    double had[2] = {0, 0};
    for (const JobId job : list.jobs.ids()) { had[job.value % 2] += seconds(run.outcomes[job].ran()); }
    return had[0] / had[1];
  };
  CHECK(ratio("tree", false) == doctest::Approx(3).epsilon(0.05));
  CHECK(ratio("tree", true) == doctest::Approx(3).epsilon(0.05));
  CHECK(ratio("classic", true) == doctest::Approx(3).epsilon(0.05));
  // Within an account the classic formula counts the account's usage in part: with a + b = 1 the factors are equal
  // where (a + 3/4 b) / (3/4) = (b + 1/4 a) / (1/4), which is a = 9 b.
  CHECK(ratio("classic", false) == doctest::Approx(9).epsilon(0.05));
}

TEST_CASE("a job of a higher tier is first, and with preemption takes the nodes of lower ones") {
  JobList list = list_of({{0, 100, 2}, {0, 100, 2}, {10, 100, 2}, {20, 50, 2}});
  for (std::uint32_t job = 0; job < 3; ++job) { belongs(list, job, "ann", "low"); }
  belongs(list, 3, "bob", "high");
  const std::string tiers = R"("partitions": [{"name": "high", "tier": 5}])";
  const JobsRun waits = run_of(list, equal_nodes(1, 4), "slurm", "{" + tiers + "}");
  CHECK(waits.outcomes[JobId{3}].started == wall_seconds(100));
  const JobsRun takes = run_of(list, equal_nodes(1, 4), "slurm", R"({"preempt": true, )" + tiers + "}");
  CHECK(takes.outcomes[JobId{3}].started == wall_seconds(20));
  CHECK(takes.outcomes[JobId{0}].starts == 1);
  CHECK(takes.outcomes[JobId{1}].starts == 2);
}
