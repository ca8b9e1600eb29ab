#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "models/traces/workload_draft.hpp"
#include "sim/format.hpp"

namespace athanor {

namespace {

constexpr std::uint32_t kNobody = UINT32_MAX;

std::string text_of(const Workload& workload, const Workload::Call& call) {
  return fmt::format("{} of {}{} on communicator '{}'", name(call.kind), to_string(call.size),
                     has_root(call.kind) ? fmt::format(", root {},", call.root) : "",
                     workload.communicators[call.communicator].name);
}

class Matching {
 public:
  explicit Matching(WorkloadDraft& draft) : draft_(draft), workload_(draft.workload) {
    members_.resize(workload_.communicators.size());
    for (std::size_t c = 0; c < members_.size(); ++c) {
      members_[c] = workload_.communicators[c].workers;
      std::sort(members_[c].begin(), members_[c].end());
    }
    sequences_.resize(workload_.communicators.size());
    sent_.resize(workload_.channels.size());
    received_.resize(workload_.channels.size());
  }

  void run() {
    for (std::uint32_t worker = 0; worker < workload_.workers.size(); ++worker) { walk(worker); }
    check_missing_members();
    for (std::uint32_t channel = 0; channel < workload_.channels.size(); ++channel) { check_channel(channel); }
  }

 private:
  struct Step {
    std::uint32_t call = 0;
    std::uint32_t operation = 0;
  };
  /// What the first member of a communicator calls; how often each of the others does is checked against it.
  struct Sequence {
    std::uint32_t worker = kNobody;
    std::vector<Step> steps;
    std::uint32_t members = 0;  ///< that call at all
  };
  struct Message {
    Bytes size;
    std::uint32_t operation = 0;
  };

  SourceLocation place(std::uint32_t worker) const { return {draft_.origins[worker].file, 0, 0, ""}; }

  std::string at(std::uint32_t worker, std::uint32_t operation) const {
    const Workload::Worker& found = workload_.workers[worker];
    return fmt::format("{} (node {} '{}')", found.name, draft_.origins[worker].nodes[operation],
                       workload_.labels[found.operations[operation].label]);
  }

  void walk(std::uint32_t worker) {
    const auto& operations = workload_.workers[worker].operations;
    std::map<std::uint32_t, std::vector<Step>> calls;
    for (std::uint32_t i = 0; i < operations.size(); ++i) {
      const Workload::Operation& operation = operations[i];
      if (operation.kind == Workload::Kind::call) {
        calls[workload_.calls[operation.subject].communicator].push_back({operation.subject, i});
      } else if (operation.kind == Workload::Kind::send) {
        sent_[operation.subject].push_back({operation.size, i});
      } else if (operation.kind == Workload::Kind::receive) {
        received_[operation.subject].push_back({operation.size, i});
      }
    }
    for (auto& [communicator, steps] : calls) { compare(worker, communicator, std::move(steps)); }
  }

  void compare(std::uint32_t worker, std::uint32_t communicator, std::vector<Step> steps) {
    if (!std::binary_search(members_[communicator].begin(), members_[communicator].end(), worker)) {
      draft_.complaints.add({"not-a-member",
                             fmt::format("{} calls {}, of which it is no member", at(worker, steps.front().operation),
                                         text_of(workload_, workload_.calls[steps.front().call])),
                             place(worker), "is the list of the group's ranks right?"});
      return;
    }
    Sequence& known = sequences_[communicator];
    ++known.members;
    if (known.worker == kNobody) {
      known.worker = worker;
      known.steps = std::move(steps);
      return;
    }
    const std::size_t both = std::min(known.steps.size(), steps.size());
    for (std::size_t k = 0; k < both; ++k) {
      if (known.steps[k].call != steps[k].call) { return differ(worker, known, steps[k], known.steps[k], k); }
    }
    if (known.steps.size() != steps.size()) { differ_in_number(worker, communicator, known, steps); }
  }

  void differ(std::uint32_t worker, const Sequence& known, const Step& own, const Step& other, std::size_t k) {
    draft_.complaints.add(
        {"mismatched-collectives",
         fmt::format("call {} of the communicator is {} at {}, but {} at {}", k + 1,
                     text_of(workload_, workload_.calls[own.call]), at(worker, own.operation),
                     text_of(workload_, workload_.calls[other.call]), at(known.worker, other.operation)),
         place(worker), "the k-th calls of all ranks of a communicator belong together"});
  }

  void differ_in_number(std::uint32_t worker, std::uint32_t communicator, const Sequence& known,
                        const std::vector<Step>& steps) {
    draft_.complaints.add({"missing-calls",
                           fmt::format("{} calls collectives of communicator '{}' {} times, and {} does so {} times",
                                       workload_.workers[worker].name, workload_.communicators[communicator].name,
                                       steps.size(), workload_.workers[known.worker].name, known.steps.size()),
                           place(worker), "were the ranks' traces recorded over the same steps?"});
  }

  void check_missing_members() {
    for (std::uint32_t c = 0; c < sequences_.size(); ++c) {
      const Sequence& known = sequences_[c];
      if (known.worker == kNobody || known.members == members_[c].size()) { continue; }
      draft_.complaints.add(
          {"missing-calls",
           fmt::format("{} of the {} members of communicator '{}' never call it, while {} does so {} "
                       "times",
                       members_[c].size() - known.members, members_[c].size(), workload_.communicators[c].name,
                       workload_.workers[known.worker].name, known.steps.size()),
           place(known.worker), "were the ranks' traces recorded over the same steps?"});
    }
  }

  void check_channel(std::uint32_t index) {
    const Workload::Channel& channel = workload_.channels[index];
    const std::vector<Message>& sent = sent_[index];
    const std::vector<Message>& received = received_[index];
    const std::size_t both = std::min(sent.size(), received.size());
    if (sent.size() > both) {
      return unmatched("unmatched-send", channel.from, sent[both], "sends a message that nobody receives", channel);
    }
    if (received.size() > both) {
      return unmatched("unmatched-receive", channel.to, received[both], "waits for a message that nobody sends",
                       channel);
    }
    for (std::size_t k = 0; k < both; ++k) {
      if (sent[k].size == received[k].size) { continue; }
      draft_.complaints.add(
          {"mismatched-message",
           fmt::format("{} sends {}, and {} receives {}", at(channel.from, sent[k].operation), to_string(sent[k].size),
                       at(channel.to, received[k].operation), to_string(received[k].size)),
           place(channel.from), "the k-th send meets the k-th receive of the same ranks and tag"});
      return;
    }
  }

  void unmatched(const char* code, std::uint32_t worker, const Message& message, const char* what,
                 const Workload::Channel& channel) {
    draft_.complaints.add({code, fmt::format("{} {} ({})", at(worker, message.operation), what, channel.name),
                           place(worker), "were the ranks' traces recorded over the same steps?"});
  }

  WorkloadDraft& draft_;
  const Workload& workload_;
  std::vector<std::vector<std::uint32_t>> members_;
  std::vector<Sequence> sequences_;
  std::vector<std::vector<Message>> sent_;
  std::vector<std::vector<Message>> received_;
};

}  // namespace

void check_matching(WorkloadDraft& draft) { Matching(draft).run(); }

}  // namespace athanor
