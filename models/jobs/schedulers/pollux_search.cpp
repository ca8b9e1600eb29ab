#include "models/jobs/schedulers/pollux_search.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace athanor {

PolluxSearch::PolluxSearch(std::vector<std::uint32_t> capacity, std::vector<PolluxJob> jobs, const SpeedOf& speed,
                           const PolluxRules& rules, RandomStream& random)
    : capacity_(std::move(capacity)), jobs_(std::move(jobs)), speed_(speed), rules_(rules), random_(random) {
  for (const PolluxJob& job : jobs_) { speeds_.emplace_back((capacity_.size() + 1) * (job.most_gpus + 1), -1); }
}

double PolluxSearch::cost_of(std::size_t job, const GpuRow& row) const {
  constexpr double kMost = 1000;  // of a job without GPUs, beside which all else is small
  const PolluxJob& what = jobs_[job];
  const std::uint32_t gpus = gpus_of(row);
  if (gpus == 0) { return kMost; }
  const std::uint32_t nodes = nodes_of(row);
  double& speed = speeds_[job][nodes * (what.most_gpus + 1) + gpus];
  if (speed < 0) { speed = speed_(job, nodes, gpus) / what.fair_speed; }
  const bool moves = row != what.present && gpus_of(what.present) > 0;
  const double kept = moves ? speed * what.if_moved : speed;
  return kept * kMost > 1 ? 1 / kept : kMost;
}

double PolluxSearch::cost(const Solution& solution) const {
  double sum = 0;
  for (std::size_t job = 0; job < jobs_.size(); ++job) { sum += cost_of(job, solution[job]); }
  return sum / static_cast<double>(jobs_.size());
}

void PolluxSearch::add_up(Candidate& candidate) const {
  candidate.cost =
      std::accumulate(candidate.costs.begin(), candidate.costs.end(), 0.0) / static_cast<double>(jobs_.size());
}

PolluxSearch::Candidate PolluxSearch::candidate(Solution rows) {
  Candidate made{std::move(rows), std::vector<double>(jobs_.size(), -1), 0};
  repair(made);
  for (std::size_t job = 0; job < jobs_.size(); ++job) { made.costs[job] = cost_of(job, made.rows[job]); }
  add_up(made);
  return made;
}

PolluxSearch::Candidate PolluxSearch::child(const Candidate& mother, const Candidate& father) {
  Candidate made = mother;
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    if (random_.below(2) == 0) { continue; }
    made.rows[job] = father.rows[job];
    made.costs[job] = father.costs[job];
  }
  mutate(made);
  repair(made);
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    if (made.costs[job] < 0) { made.costs[job] = cost_of(job, made.rows[job]); }
  }
  add_up(made);
  return made;
}

void PolluxSearch::mutate(Candidate& candidate) {
  constexpr std::uint64_t kMost = 3;
  for (std::uint64_t left = 1 + random_.below(kMost); left > 0; --left) {
    const std::size_t job = random_.below(jobs_.size());
    const std::size_t node = random_.below(capacity_.size());
    candidate.rows[job][node] = static_cast<std::uint16_t>(random_.below(capacity_[node] + 1));
    candidate.costs[job] = -1;
  }
}

void PolluxSearch::repair(Candidate& candidate) {
  limit_jobs(candidate);
  limit_nodes(candidate);
  if (rules_.keep_apart) { part_spanning_jobs(candidate); }
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    const std::uint32_t gpus = gpus_of(candidate.rows[job]);
    if (gpus == 0 || gpus >= jobs_[job].least_gpus) { continue; }
    std::fill(candidate.rows[job].begin(), candidate.rows[job].end(), std::uint16_t{0});
    candidate.costs[job] = -1;
  }
}

void PolluxSearch::limit_jobs(Candidate& candidate) {
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    GpuRow& row = candidate.rows[job];
    for (std::uint32_t gpus = gpus_of(row); gpus > jobs_[job].most_gpus; --gpus) {
      auto at = random_.below(gpus);
      std::size_t node = 0;
      for (; at >= row[node]; ++node) { at -= row[node]; }
      --row[node];
      candidate.costs[job] = -1;
    }
  }
}

void PolluxSearch::limit_nodes(Candidate& candidate) {
  for (std::size_t node = 0; node < capacity_.size(); ++node) {
    std::uint64_t sum = 0;
    for (const GpuRow& row : candidate.rows) { sum += row[node]; }
    for (; sum > capacity_[node]; --sum) {
      auto at = random_.below(sum);
      std::size_t job = 0;
      for (; at >= candidate.rows[job][node]; ++job) { at -= candidate.rows[job][node]; }
      --candidate.rows[job][node];
      candidate.costs[job] = -1;
    }
  }
}

void PolluxSearch::part_spanning_jobs(Candidate& candidate) {
  std::vector<std::uint32_t> nodes;
  for (const GpuRow& row : candidate.rows) { nodes.push_back(nodes_of(row)); }
  std::vector<std::size_t> spanning;
  for (std::size_t node = 0; node < capacity_.size(); ++node) {
    spanning.clear();
    for (std::size_t job = 0; job < jobs_.size(); ++job) {
      if (nodes[job] > 1 && candidate.rows[job][node] > 0) { spanning.push_back(job); }
    }
    if (spanning.size() < 2) { continue; }
    const std::size_t stays = spanning[random_.below(spanning.size())];
    for (const std::size_t job : spanning) {
      if (job == stays) { continue; }
      candidate.rows[job][node] = 0;
      candidate.costs[job] = -1;
      --nodes[job];
    }
  }
}

std::vector<PolluxSearch::Solution> PolluxSearch::improve(const std::vector<Solution>& from) {
  std::vector<Candidate> all;
  for (const Solution& solution : from) { all.push_back(candidate(solution)); }
  const auto better = [](const Candidate& a, const Candidate& b) { return a.cost < b.cost; };
  const auto select = [&] {
    std::stable_sort(all.begin(), all.end(), better);
    const auto same = [](const Candidate& a, const Candidate& b) { return a.cost == b.cost && a.rows == b.rows; };
    all.erase(std::unique(all.begin(), all.end(), same), all.end());
    if (all.size() > rules_.population) { all.resize(rules_.population); }
  };
  select();
  for (std::uint32_t generation = 0; generation < rules_.generations; ++generation) {
    const std::size_t parents = all.size();
    const auto parent = [&] { return std::min(random_.below(parents), random_.below(parents)); };  // the better of two
    all.reserve(parents + rules_.population);
    for (std::uint32_t i = 0; i < rules_.population; ++i) {
      const auto mother = parent();
      const auto father = parent();
      all.push_back(child(all[mother], all[father]));
    }
    select();
  }
  std::vector<Solution> solutions;
  for (Candidate& each : all) { solutions.push_back(std::move(each.rows)); }
  return solutions;
}

}  // namespace athanor
