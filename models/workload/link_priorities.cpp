#include "models/workload/link_priorities.hpp"

#include <algorithm>

#include "sim/check.hpp"
#include "sim/random.hpp"

namespace athanor {

namespace {

constexpr int kOrders = 64;  // that are tried

bool goes_first(const LinkContention& jobs, std::size_t a, std::size_t b) {
  return jobs.priority[a] != jobs.priority[b] ? jobs.priority[a] > jobs.priority[b] : a < b;
}

/// A topological order: of those that nobody who meets them has to go before, one by chance; the first time, the one
/// of most priority.
std::vector<std::uint32_t> topological_order(const LinkContention& jobs, bool by_chance, RandomStream& random) {
  const std::size_t count = jobs.intensity.size();
  std::vector<std::uint32_t> waits(count);
  const auto edge = [&](std::size_t from, std::size_t to) {
    return from != to && jobs.meets[from][to] && goes_first(jobs, from, to);
  };
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = 0; to < count; ++to) { waits[to] += edge(from, to) ? 1 : 0; }
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t job = 0; job < count; ++job) {
    if (waits[job] == 0) { ready.push_back(job); }
  }
  std::vector<std::uint32_t> order;
  while (!ready.empty()) {
    const auto first = std::min_element(ready.begin(), ready.end(),
                                        [&](std::uint32_t a, std::uint32_t b) { return goes_first(jobs, a, b); });
    const auto chosen = by_chance ? ready.begin() + static_cast<std::ptrdiff_t>(random.below(ready.size())) : first;
    const std::uint32_t job = *chosen;
    ready.erase(chosen);
    order.push_back(job);
    for (std::uint32_t to = 0; to < count; ++to) {
      if (edge(job, to) && --waits[to] == 0) { ready.push_back(to); }
    }
  }
  return order;
}

/// Where an order is cut into at most so many classes, and what jobs of one class lose.
struct ClassCut {
  double loss = 0;
  std::vector<std::uint32_t> classes;  ///< by job
};

/// losses[from][to]: what the jobs at places `from` to `to` - 1 of the order lose in one class.
using Losses = std::vector<std::vector<double>>;

Losses losses_of(const LinkContention& jobs, const std::vector<std::uint32_t>& order) {
  const std::size_t count = order.size();
  Losses losses(count + 1, std::vector<double>(count + 1));
  for (std::size_t from = 0; from < count; ++from) {
    for (std::size_t to = from + 1; to <= count; ++to) {
      double last = 0;
      for (std::size_t before = from; before + 1 < to; ++before) {
        if (jobs.meets[order[before]][order[to - 1]]) { last += jobs.intensity[order[before]]; }
      }
      losses[from][to] = losses[from][to - 1] + last;
    }
  }
  return losses;
}

ClassCut best_cut(const LinkContention& jobs, const std::vector<std::uint32_t>& order, std::uint32_t classes) {
  const std::size_t count = order.size();
  const Losses losses = losses_of(jobs, order);
  Losses least(classes + 1, std::vector<double>(count + 1));  // by classes used and jobs in them
  least[1] = losses[0];
  std::vector<std::vector<std::size_t>> from(classes + 1, std::vector<std::size_t>(count + 1));
  for (std::uint32_t used = 2; used <= classes; ++used) {
    for (std::size_t to = 0; to <= count; ++to) {
      least[used][to] = least[used - 1][to];
      from[used][to] = to;  // one class fewer
      for (std::size_t at = 0; at < to; ++at) {
        const double here = least[used - 1][at] + losses[at][to];
        if (here >= least[used][to]) { continue; }
        least[used][to] = here;
        from[used][to] = at;
      }
    }
  }
  ClassCut cut{least[classes][count], std::vector<std::uint32_t>(count)};
  std::size_t to = count;
  for (std::uint32_t used = classes; used > 0; --used) {
    const std::size_t at = used == 1 ? 0 : from[used][to];
    for (std::size_t place = at; place < to; ++place) { cut.classes[order[place]] = classes - used; }
    to = at;
  }
  return cut;
}

}  // namespace

std::vector<std::uint32_t> priority_classes(const LinkContention& jobs, std::uint32_t classes) {
  require(classes > 0, "no classes");
  RandomStream random(1, "topological orders");
  ClassCut best;
  for (int order = 0; order < kOrders; ++order) {
    ClassCut cut = best_cut(jobs, topological_order(jobs, order > 0, random), classes);
    if (order == 0 || cut.loss < best.loss) { best = std::move(cut); }
    if (best.loss == 0) { break; }
  }
  return best.classes;
}

}  // namespace athanor
