#include "models/traces/layers/write_layers.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include <fmt/core.h>

#include "models/traces/layers/layer_chain.hpp"
#include "models/traces/layers/layer_groups.hpp"
#include "models/traces/workload_draft.hpp"

namespace athanor {

namespace {

/// One pass of a line: a time, a type of communication, bytes.
struct PassText {
  std::int64_t time = 0;
  std::string type = "NONE";
  std::int64_t size = 0;
};

struct LineText {
  std::string name;
  PassText forward;
  PassText input_gradient;
  PassText weight_gradient;
  std::int64_t update = 0;
};

/// Lines of a chain. Backward goes from the last line to the first, so its links stand in reverse beside the forward
/// ones.
class Lines {
 public:
  Lines(const Workload& workload, LayerFormat format, const LayerChain& chain)
      : workload_(workload), format_(format), groups_(workload, format == LayerFormat::simai) {
    const std::size_t forward = chain.forward.size();
    const std::size_t backward = chain.backward.size();
    beside_ = std::any_of(chain.backward.begin(), chain.backward.end(),
                          [](const LayerChain::Link& link) { return link.beside > Time::zero(); });
    lines_.resize(std::max(forward, backward));
    for (std::size_t i = 0; i < forward; ++i) { add_forward(chain.forward[i], lines_[i]); }
    for (std::size_t i = 0; i < backward; ++i) { add_backward(chain.backward[i], lines_[backward - 1 - i]); }
    add_end(chain);
    // Where weight gradients are computed beside calls, readers take the first layer to have no input gradient.
    if (beside_ && format == LayerFormat::astra) { lines_.insert(lines_.begin(), LineText{"first", {}, {}, {}, 0}); }
  }

  std::string text() const {
    std::string all = head() + fmt::format("\n{}\n", lines_.size());
    for (const LineText& line : lines_) {
      all += fmt::format("{} -1", line.name);
      for (const PassText* pass : {&line.forward, &line.input_gradient, &line.weight_gradient}) {
        all += fmt::format(" {} {} {}", pass->time, pass->type, pass->size);
      }
      all += fmt::format(" {}\n", line.update);
    }
    return all;
  }
  std::uint64_t count() const { return lines_.size(); }
  const LayerGroups& groups() const { return groups_; }
  /// Whether computing goes on beside calls of input gradients.
  bool beside() const { return beside_; }

 private:
  std::string head() const {
    if (format_ == LayerFormat::astra) { return beside_ ? "HYBRID_DATA_MODEL" : "HYBRID_TRANSFORMER"; }
    return fmt::format(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: {} ep: {} pp: 1 vpp: 1 ga: 1 all_gpus: {} "
        "checkpoints: "
        "0 checkpoint_initiates: 0",
        groups_.tensor(), groups_.expert(), groups_.ranks());
  }

  /// "MLP" of "MLP backward"; without blanks, which end a column.
  static void name(const LayerChain::Link& link, LineText& line) {
    if (!line.name.empty()) { return; }
    line.name = link.label.empty() ? "layer" : link.label;
    for (const std::string_view pass : {" forward", " backward"}) {
      if (line.name.ends_with(pass)) { line.name.resize(line.name.size() - pass.size()); }
    }
    std::replace(line.name.begin(), line.name.end(), ' ', '_');
  }

  /// Of times that are no whole nanoseconds, the next one carries on what is left.
  std::int64_t whole(Time time) {
    constexpr std::int64_t kNanosecond = 1000;
    left_ += time;
    const std::int64_t count = std::max<std::int64_t>(0, (left_.count() + kNanosecond / 2) / kNanosecond);
    left_ -= Time{count * kNanosecond};
    return count;
  }

  void set_call(const Workload::Call& call, bool weight, PassText& pass) const {
    pass.type = groups_.type_of(call, weight);
    const std::int64_t size = call.size.count();
    const bool part = call.kind == CollectiveKind::all_gather && format_ == LayerFormat::astra;
    const auto ranks = static_cast<std::int64_t>(LayerGroups::size_of_group(workload_, call));
    pass.size = part ? (size + ranks - 1) / ranks : size;
  }

  void add_forward(const LayerChain::Link& link, LineText& line) {
    name(link, line);
    line.forward.time = whole(link.time);
    if (link.waited_for) { set_call(*link.waited_for, false, line.forward); }
  }

  void add_backward(const LayerChain::Link& link, LineText& line) {
    name(link, line);
    line.input_gradient.time = whole(link.time);
    if (link.waited_for) { set_call(*link.waited_for, false, line.input_gradient); }
    if (link.beside > Time::zero()) { line.weight_gradient.time = whole(link.beside); }
    if (link.gradients) { set_call(*link.gradients, true, line.weight_gradient); }
  }

  /// The update follows the last call of weight gradients to be carried out, that of the first line that has one; what
  /// is gathered behind it is one more such call, of a line in front.
  void add_end(const LayerChain& chain) {
    const auto last = std::find_if(lines_.begin(), lines_.end(),
                                   [](const LineText& line) { return line.weight_gradient.type != "NONE"; });
    if (last != lines_.end()) { last->update = whole(chain.update); }
    for (const Workload::Call& call : chain.behind) {
      LineText line{.name = "behind_the_optimizer", .forward = {}, .input_gradient = {}, .weight_gradient = {}};
      set_call(call, true, line.weight_gradient);
      lines_.insert(lines_.begin(), line);
    }
  }

  const Workload& workload_;
  LayerFormat format_;
  LayerGroups groups_;
  bool beside_ = false;
  std::vector<LineText> lines_;
  Time left_;
};

}  // namespace

LayerExport write_layers(const Workload& workload, LayerFormat format) {
  TraceNotes notes;
  const LayerChain chain = chain_of(workload, notes);
  const Lines lines(workload, format, chain);
  if (format == LayerFormat::astra) {
    notes.say(fmt::format(R"(to be read with "unit": "1ns", "ranks": {}, "model_ranks": {})", lines.groups().ranks(),
                          lines.groups().tensor()));
  }
  if (format == LayerFormat::simai && lines.beside()) {
    notes.say("weight gradients that are computed beside calls of input gradients wait for these in such a text");
  }
  if (!chain.behind.empty() && chain.update > Time::zero()) {
    notes.say("what is gathered behind the optimizer does not wait for it in such a text");
  }
  return {lines.text(), lines.count(), notes.texts()};
}

}  // namespace athanor
