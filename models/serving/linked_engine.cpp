#include <algorithm>

#include "models/serving/replica_engine.hpp"
#include "sim/check.hpp"
#include "sim/error.hpp"

// Of ReplicaEngine, what drives it instant by instant.

namespace athanor {

void ReplicaEngine::cut_run(Time at) {
  if (!plan_ || plan_->count == 1) { return; }
  const std::int64_t count = begun_before(at);
  if (count == plan_->count) { return; }
  plan_->time = time_of_iterations(*plan_, count);
  plan_->count = count;
}

void ReplicaEngine::join(std::uint32_t request, Time at) {
  require(fits_engine(requests_[request], rules_, role_), "request {} can never be served", request);
  cut_run(at);
  waiting_.push_back({request, requests_[request].prompt});
}

void ReplicaEngine::announce(std::uint32_t request, Time at) {
  require(fits_engine(requests_[request], rules_, role_), "request {} can never be served", request);
  cut_run(at);
  waiting_.push_back({request, requests_[request].prompt + 1, true});
}

void ReplicaEngine::deliver(std::uint32_t request, Time at) {
  cut_run(at);
  delivered_.push_back(request);
}

void ReplicaEngine::release(std::uint32_t request, Time at) {
  const auto found = held_.find(request);
  require(found != held_.end(), "request {} holds no pages", request);
  cut_run(at);
  free_pages_ += found->second;
  held_.erase(found);
}

void ReplicaEngine::end(Time at) {
  if (plan_ && now_ + plan_->time <= at) { carry_out(plan_->count, plan_->time); }
}

Time ReplicaEngine::begin(Time at) {
  if (!plan_ && !is_idle()) {
    if (stop_.stop_requested()) { throw Interrupted(); }
    now_ = std::max(now_, at);
    schedule();
    if (running_.empty()) { return Time::max(); }  // what waits, waits for pages that are held
    make_plan();
    note_prefilled();
  }
  return plan_ ? now_ + plan_->time : Time::max();
}

void ReplicaEngine::note_prefilled() {
  if (role_ != EngineRole::prefill) { return; }
  for (const Running& each : running_) {
    const bool more = requests_[each.request].output > 1;
    if (more && each.computed + each.granted == each.known) {
      prefilled_.push_back({each.request, now_, now_ + plan_->time});
    }
  }
}

}  // namespace athanor
