#include "tests/models/serving/naive_engine.hpp"

#include <algorithm>
#include <list>

namespace athanor::testing {

namespace {

struct Sequence {
  std::size_t request = 0;
  std::uint32_t generated = 0;
  std::uint32_t computed = 0;
  std::uint32_t granted = 0;
};

class NaiveEngine {
 public:
  NaiveEngine(const EngineRules& rules, const IterationLaw& law, const ServedRequests& requests)
      : rules_(rules), law_(law), requests_(requests), outcomes_(requests.size()) {}

  std::vector<ServedOutcome> run() {
    while (arrived_ < requests_.size() || !running_.empty() || !waiting_.empty()) {
      if (running_.empty() && waiting_.empty()) { now_ = std::max(now_, requests_[arrived_].arrival); }
      while (arrived_ < requests_.size() && requests_[arrived_].arrival <= now_) { waiting_.push_back({arrived_++}); }
      iterate();
    }
    return outcomes_;
  }

 private:
  std::uint32_t missing(const Sequence& each) const {
    return requests_[each.request].prompt + each.generated - each.computed;
  }
  std::uint64_t pages(std::uint32_t tokens) const { return (tokens + rules_.page - 1) / rules_.page; }
  std::uint64_t needed(const Sequence& each) const {
    const auto all = static_cast<std::uint32_t>(requests_[each.request].most_kept());
    return pages(rules_.reserve_output ? all : each.computed + each.granted);
  }
  /// Of all that run, those of this iteration included.
  std::uint64_t taken() const {
    std::uint64_t sum = 0;
    for (const Sequence& each : running_) { sum += needed(each); }
    return sum;
  }

  bool grant_running(std::uint32_t& budget) {
    bool preempted = false;
    for (Sequence& each : running_) { each.granted = 0; }
    for (auto at = running_.begin(); at != running_.end(); ++at) {
      at->granted = std::min(missing(*at), budget);
      budget -= at->granted;
      while (taken() > rules_.pages) {
        Sequence last = running_.back();
        const bool itself = &running_.back() == &*at;
        ++outcomes_[last.request].preemptions;
        waiting_.push_front({last.request, last.generated});
        running_.pop_back();
        preempted = true;
        if (itself) { return true; }
      }
    }
    return preempted;
  }

  void iterate() {
    std::uint32_t budget = rules_.max_batched_tokens;
    bool open = !grant_running(budget);
    while (open && !waiting_.empty() && running_.size() < rules_.max_running && budget > 0) {
      Sequence next = waiting_.front();
      next.granted = std::min(missing(next), budget);
      open = rules_.chunked_prefill || next.granted == missing(next);
      open = open && taken() + needed(next) <= rules_.pages;
      if (!open) { break; }
      if (outcomes_[next.request].preemptions == 0) { outcomes_[next.request].scheduled = now_; }
      budget -= next.granted;
      running_.push_back(next);
      waiting_.pop_front();
    }
    compute();
  }

  void compute() {
    IterationLoad load;
    Time chunks;
    for (const Sequence& each : running_) {
      load.tokens += each.granted;
      load.samples += each.granted == missing(each) ? 1 : 0;
      if (each.granted == 1) { load.attended += each.computed + 1; }
      if (each.granted > 1) { chunks += law_.of_chunk(each.computed, each.granted); }
    }
    now_ += time_of(load, law_) + chunks;
    for (auto at = running_.begin(); at != running_.end();) {
      const bool samples = at->granted == missing(*at);
      at->computed += at->granted;
      if (samples && at->generated++ == 0) { outcomes_[at->request].first_token = now_; }
      const bool ends = at->generated == requests_[at->request].output;
      if (ends) { outcomes_[at->request].finished = now_; }
      at = ends ? running_.erase(at) : std::next(at);
    }
  }

  const EngineRules& rules_;
  const IterationLaw& law_;
  const ServedRequests& requests_;
  std::vector<ServedOutcome> outcomes_;
  std::list<Sequence> running_;
  std::list<Sequence> waiting_;
  std::size_t arrived_ = 0;
  Time now_;
};

}  // namespace

std::vector<ServedOutcome> serve_naively(const EngineRules& rules, const IterationLaw& law,
                                         const ServedRequests& requests) {
  return NaiveEngine(rules, law, requests).run();
}

}  // namespace athanor::testing
