#include "models/traces/goal/write_goal.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include "algorithms/catalog.hpp"
#include "algorithms/formats/goal_rank_writer.hpp"
#include "models/traces/channel_peers.hpp"
#include "models/traces/workload_draft.hpp"
#include "models/workload/ranks_of_workers.hpp"
#include "sim/error.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

/// The algorithm of a call, made for its number of ranks.
struct CallForm {
  const Algorithm* algorithm = nullptr;
  std::shared_ptr<const Schedule> schedule;
  std::uint64_t tags = 0;
};

std::uint32_t ranks_of(const Workload::Communicator& communicator) {
  return static_cast<std::uint32_t>(communicator.groups->front().size());
}

/// Rings and their like, which need neither powers of two nor engines, before all others of the catalog.
const Algorithm& algorithm_for(const Collective& collective) {
  const Algorithm* first = nullptr;
  for (const Algorithm& each : catalog()) {
    if (each.kind != collective.kind || each.engine != Engine::none || each.refuses(collective, {})) { continue; }
    if (each.name == "ring" || each.name == "direct") { return each; }
    if (first == nullptr) { first = &each; }
  }
  if (first == nullptr) {
    throw SimulationError("not-in-goal", fmt::format("no algorithm without engines carries out {} of {} ranks",
                                                     name(collective.kind), collective.ranks));
  }
  return *first;
}

/// What the calls of a workload become, and which tags they have.
class CallForms {
 public:
  explicit CallForms(const Workload& workload) : workload_(workload) {
    first_tag_.reserve(workload.communicators.size());
    std::vector<std::uint64_t> calls(workload.communicators.size());
    std::vector<std::uint64_t> stride(workload.communicators.size());
    for (std::size_t w = 0; w < workload.workers.size(); ++w) { count(static_cast<std::uint32_t>(w), calls, stride); }
    for (std::size_t c = 0; c < calls.size(); ++c) {
      first_tag_.push_back(next_tag_);
      next_tag_ += calls[c] * stride[c];
    }
    stride_ = std::move(stride);
  }

  const CallForm& of(const Workload::Call& call) const { return forms_.at(key(call)); }
  /// Of the k-th call of its communicator.
  std::uint64_t first_tag(const Workload::Call& call, std::uint64_t k) const {
    return first_tag_[call.communicator] + k * stride_[call.communicator];
  }
  /// Behind those of all calls.
  std::uint64_t next_tag() const { return next_tag_; }

  std::vector<std::string> used() const {
    std::map<std::string, std::string> names;
    for (const auto& [key, form] : forms_) {
      if (form.algorithm != nullptr) { names[std::string(name(form.algorithm->kind))] = form.algorithm->name; }
    }
    std::vector<std::string> texts;
    for (const auto& [kind, algorithm] : names) { texts.push_back(fmt::format("{} by {}", kind, algorithm)); }
    return texts;
  }

 private:
  using Key = std::tuple<CollectiveKind, std::uint32_t, std::int64_t, std::int64_t, std::uint32_t>;

  Key key(const Workload::Call& call) const {
    return {call.kind, ranks_of(workload_.communicators[call.communicator]), call.size.count(),
            size_of(call.type).count(), call.root};
  }

  /// The first worker of a communicator calls as often as all of them.
  void count(std::uint32_t worker, std::vector<std::uint64_t>& calls, std::vector<std::uint64_t>& stride) {
    for (const Workload::Operation& operation : workload_.workers[worker].operations) {
      if (operation.kind != Workload::Kind::call) { continue; }
      const Workload::Call& call = workload_.calls[operation.subject];
      if (workload_.communicators[call.communicator].workers.front() != worker) { continue; }
      ++calls[call.communicator];
      stride[call.communicator] = std::max(stride[call.communicator], form_of(call).tags);
    }
  }

  const CallForm& form_of(const Workload::Call& call) {
    const auto [found, fresh] = forms_.try_emplace(key(call));
    const std::uint32_t ranks = ranks_of(workload_.communicators[call.communicator]);
    if (!fresh || ranks == 1) { return found->second; }
    const Collective collective{call.kind, ranks, Elements{call.size / size_of(call.type)}, call.root};
    CallForm& form = found->second;
    form.algorithm = &algorithm_for(collective);
    form.schedule = form.algorithm->make(collective, {});
    form.tags = goal_tags(*form.schedule);
    return form;
  }

  const Workload& workload_;
  std::map<Key, CallForm> forms_;
  std::vector<std::uint64_t> first_tag_;  ///< by communicator
  std::vector<std::uint64_t> stride_;     ///< of tags, from call to call of a communicator
  std::uint64_t next_tag_ = 0;
};

/// By communicator, the group that each rank is in, and its place there.
class GroupPlaces {
 public:
  struct Place {
    const std::vector<std::uint32_t>* group = nullptr;
    std::uint32_t place = 0;
  };

  explicit GroupPlaces(const Workload& workload) {
    for (const Workload::Communicator& communicator : workload.communicators) {
      auto& places = places_.emplace_back();
      for (const std::vector<std::uint32_t>& group : *communicator.groups) {
        for (std::uint32_t place = 0; place < group.size(); ++place) { places[group[place]] = {&group, place}; }
      }
    }
  }

  const Place& of(std::uint32_t communicator, std::uint32_t rank) const { return places_[communicator].at(rank); }

 private:
  std::vector<std::unordered_map<std::uint32_t, Place>> places_;
};

/// What is the same for all ranks.
struct GoalContext {
  const Workload& workload;
  const CallForms& forms;
  const GroupPlaces& places;
  const ChannelPeers& peers;
  GoalText& text;
  GoalSummary& summary;
  TraceNotes& notes;
};

/// One rank's block. Operation i has the label "oI"; a call begins with it, and ends with "oIe".
class RankBlock {
 public:
  RankBlock(const GoalContext& context, const Workload::Worker& worker, std::uint32_t rank)
      : context_(context),
        worker_(worker),
        rank_(rank),
        left_(worker.streams.size()),
        last_(worker.streams.size()),
        calls_(context.workload.communicators.size()),
        messages_(context.workload.channels.size()) {}

  void write() {
    for (std::size_t i = 0; i < worker_.operations.size(); ++i) { write_operation(i); }
    // A label may be used only below its definition, and operations may wait for later ones.
    for (std::size_t i = 0; i < worker_.operations.size(); ++i) { write_dependencies(i); }
  }

 private:
  void write_operation(std::size_t index) {
    const Workload::Operation& operation = worker_.operations[index];
    switch (operation.kind) {
      case Workload::Kind::compute: return write_calc(index, whole_nanoseconds(operation));
      case Workload::Kind::mark: return write_calc(index, 0);
      case Workload::Kind::call: return write_call(index);
      case Workload::Kind::send:
      case Workload::Kind::receive: return write_message(index);
    }
  }

  std::int64_t whole_nanoseconds(const Workload::Operation& operation) {
    constexpr std::int64_t kNanosecond = 1000;
    Time& left = left_[operation.stream];
    left += operation.time;
    const std::int64_t whole = std::max<std::int64_t>(0, (left.count() + kNanosecond / 2) / kNanosecond);
    left -= Time{whole * kNanosecond};
    return whole;
  }

  std::string on_cpu(std::size_t index) const { return fmt::format(" cpu {}", worker_.operations[index].stream); }

  void write_calc(std::size_t index, std::int64_t time) {
    context_.text.add("o{}: calc {}{}\n", index, time, on_cpu(index));
    ++context_.summary.operations;
  }

  void write_call(std::size_t index) {
    const Workload::Call& call = context_.workload.calls[worker_.operations[index].subject];
    if (call.imbalance > 1) { context_.notes.count("all-to-alls are uneven, and written as even ones"); }
    write_calc(index, 0);
    const std::uint64_t k = calls_[call.communicator]++;
    const CallForm& form = context_.forms.of(call);
    if (!form.schedule) { return; }
    const GroupPlaces::Place& place = context_.places.of(call.communicator, rank_);
    GoalPlace where{.prefix = fmt::format("o{}_", index),
                    .suffix = on_cpu(index),
                    .ranks = *place.group,
                    .first_tag = context_.forms.first_tag(call, k),
                    .begin = fmt::format("o{}", index)};
    const GoalOptions options{.element_bytes = size_of(call.type).count()};
    GoalRankWriter writer(*form.schedule, AgentId{place.place}, options, std::move(where), context_.text,
                          context_.summary);
    writer.write();
    context_.text.add("o{}e: calc 0{}\no{}e requires o{}\n", index, on_cpu(index), index, index);
    ++context_.summary.operations;
    for (const std::string& end : writer.ends()) { context_.text.add("o{}e requires {}\n", index, end); }
  }

  /// Tags of channels stand behind those of calls: message k of channel c has k times the number of channels, and c.
  void write_message(std::size_t index) {
    const Workload::Operation& operation = worker_.operations[index];
    const bool sends = operation.kind == Workload::Kind::send;
    const std::uint32_t channel = operation.subject;
    const std::uint64_t channels = context_.workload.channels.size();
    std::uint64_t& count = sends ? messages_[channel].first : messages_[channel].second;
    const std::uint64_t tag = context_.forms.next_tag() + channels * count++ + channel;
    if (tag > UINT32_MAX) {
      throw ScenarioError(Problem{"no-goal-form", "there are more messages than GOAL has tags (2^32)", {}, ""});
    }
    const std::uint32_t peer = sends ? context_.peers.receiver(channel, rank_) : context_.peers.sender(channel, rank_);
    context_.text.add("o{}: {} {}b {} {} tag {}{}\n", index, sends ? "send" : "recv",
                      std::max<std::int64_t>(1, operation.size.count()), sends ? "to" : "from", peer, tag,
                      on_cpu(index));
    ++context_.summary.operations;
    if (sends) { ++context_.summary.messages; }
  }

  void write_dependencies(std::size_t index) {
    const Workload::Operation& operation = worker_.operations[index];
    std::vector<std::uint32_t> before;
    for (std::uint32_t i = 0; i < operation.dependencies; ++i) {
      before.push_back(worker_.dependencies[operation.first_dependency + i]);
    }
    if (worker_.streams[operation.stream].ordered) {
      std::optional<std::uint32_t>& last = last_[operation.stream];
      if (last) { before.push_back(*last); }
      last = static_cast<std::uint32_t>(index);
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    for (const std::uint32_t other : before) { context_.text.add("o{} requires {}\n", index, end_of(other)); }
  }

  std::string end_of(std::uint32_t index) const {
    const Workload::Operation& operation = worker_.operations[index];
    const bool call = operation.kind == Workload::Kind::call &&
                      context_.forms.of(context_.workload.calls[operation.subject]).schedule != nullptr;
    return fmt::format("o{}{}", index, call ? "e" : "");
  }

  const GoalContext& context_;
  const Workload::Worker& worker_;
  std::uint32_t rank_;
  std::vector<Time> left_;                          ///< by stream, of times that are no whole nanoseconds
  std::vector<std::optional<std::uint32_t>> last_;  ///< operation of each stream
  std::vector<std::uint64_t> calls_;                ///< by communicator, so far
  std::vector<std::pair<std::uint64_t, std::uint64_t>> messages_;  ///< by channel: sent and received so far
};

/// By rank, the worker that stands for it; none: a rank of the cluster that does nothing.
std::vector<const Workload::Worker*> workers_by_rank(const Workload& workload) {
  const std::vector<std::vector<std::uint32_t>> ranks = ranks_of_workers(workload);
  std::vector<const Workload::Worker*> workers;
  for (std::size_t w = 0; w < ranks.size(); ++w) {
    for (const std::uint32_t rank : ranks[w]) {
      if (rank >= workers.size()) { workers.resize(rank + 1, nullptr); }
      workers[rank] = &workload.workers[w];
    }
  }
  return workers;
}

}  // namespace

GoalTraceExport write_goal(const Workload& workload, const std::function<void(std::string_view)>& write) {
  const std::vector<const Workload::Worker*> workers = workers_by_rank(workload);
  const CallForms forms(workload);
  const GroupPlaces places(workload);
  const ChannelPeers peers(workload);
  GoalText text(write);
  GoalSummary summary;
  TraceNotes notes;
  const GoalContext context{workload, forms, places, peers, text, summary, notes};
  text.add("num_ranks {}\n", workers.size());
  for (std::uint32_t rank = 0; rank < workers.size(); ++rank) {
    text.add("\nrank {} {{\n", rank);
    if (workers[rank] != nullptr) { RankBlock(context, *workers[rank], rank).write(); }
    text.add("}}\n");
  }
  text.flush();
  if (const std::vector<std::string> used = forms.used(); !used.empty()) {
    notes.say(fmt::format("calls are written as messages: {}", joined(used, ", ")));
  }
  return {static_cast<std::uint32_t>(workers.size()), summary.operations, summary.messages, notes.texts()};
}

}  // namespace athanor
