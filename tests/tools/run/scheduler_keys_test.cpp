#include <doctest/doctest.h>

#include "tests/tools/run/workload_scenarios.hpp"

using namespace athanor;

namespace {

/// One job of an hour in the queue b, under a scheduler: its kind and its keys.
std::string scheduled(const std::string& scheduler) {
  return R"({"cluster": {"nodes": 4, "fabric": {"kind": "star", "link": {"rate": "10GB/s", "latency": "500ns"}}},
             "workload": {"jobs": [{"gpus": 1, "duration": "1h", "queue": "b"}], "scheduler": {"kind": )" +
         scheduler + "}}}";
}

/// The same under Volcano, with nodes that are lent.
std::string lent(const std::string& more, const std::string& zone) {
  const std::string actions = more.empty() ? R"(, "actions": ["allocate", "preempt"])" : more;
  return scheduled(R"("volcano", "tiers": [["gang", {"name": "tdm", "zones": [{"name": "z", )" + zone + "}]}]]" +
                   actions);
}

}  // namespace

TEST_CASE("keys of schedulers that do nothing beside the others are refused, and queues that are there twice") {
  const Folder folder;
  const std::vector<WrongWorkload> wrong = {
      {scheduled(R"("volcano", "queues": [{"name": "a"}])"), "no-such-queue", "default and a"},
      {scheduled(R"("volcano", "queues": [{"name": "b", "guarantee": {"gpus": 5}}])"), "out-of-range", "the 4 of all"},
      {scheduled(R"("volcano", "tiers": [["gang", "tdm"]])"), "missing-key", "which nodes are revocable"},
      {lent("", R"("nodes": 4, "from": "22:00", "to": "24:00")"), "wrong-value", "'24:00' is no time of day"},
      {lent("", R"("nodes": 4, "first_node": 1, "from": "22:00", "to": "23:00")"), "out-of-range", "up to 4"},
      {lent(R"(, "actions": ["allocate"])", R"("nodes": 4, "from": "22:00", "to": "23:00")"), "no-preempt",
       "nothing takes"},
      {on_star(R"({"jobs": [{"gpus": 1, "duration": "1h", "preemptible": true}]})"), "no-effect", "'fifo' treats"},
      {scheduled(R"("kueue", "cluster_queues": [{"name": "a", "nominal_quota": 4}])"), "no-such-queue",
       "cluster_queues are a"},
      {scheduled(R"("kueue", "cluster_queues": [{"name": "a", "nominal_quota": 4},
               {"name": "a", "nominal_quota": 2}])"),
       "conflict", "two queues 'a'"},
      {scheduled(R"("kueue", "cluster_queues": [{"name": "a", "nominal_quota": 4,
               "borrowing_limit": 2}])"),
       "no-effect", "in no cohort"},
      {scheduled(R"("kueue", "cluster_queues": [{"name": "a", "nominal_quota": 4,
               "reclaim_within_cohort": "any"}])"),
       "no-effect", "in no cohort"},
      {scheduled(R"("slurm", "partitions": [{"name": "q"}, {"name": "q", "tier": 2}])"), "conflict",
       "two partitions 'q'"},
      {scheduled(R"("slurm", "partitions": [{"name": "q"}])"), "no-such-queue", "no partition 'b'"},
      {scheduled(R"("slurm", "partitions": [{"name": "b", "job_factor": 2}])"), "no-effect", "weight_partition"},
      {scheduled(R"("slurm", "preempt": true, "partitions": [{"name": "b"}])"), "no-effect", "all are of one"},
      {scheduled(
           R"("slurm", "weight_fair_share": 9, "shares": [{"account": "b", "shares": 2}, {"account": "b", "shares": 3}])"),
       "conflict", "account 'b' has shares twice"},
      {scheduled(R"("slurm", "weight_fair_share": 9, "shares": [{"account": "b", "user": "u", "shares": 2},
               {"account": "b", "user": "u", "shares": 3}])"),
       "conflict", "user 'u' of account 'b'"},
      {scheduled(R"("slurm", "shares": [{"account": "b", "shares": 2}])"), "no-effect", "weight_fair_share"},
      {scheduled(R"("slurm", "fair_share": "classic")"), "no-effect", "weight_fair_share"},
      {scheduled(R"("slurm", "weight_fair_share": 9, "dampening": 2)"), "no-effect", "classic"},
      {scheduled(R"("slurm", "favor_small": true)"), "no-effect", "weight_job_size"},
  };
  check_refused(folder, wrong);
}
