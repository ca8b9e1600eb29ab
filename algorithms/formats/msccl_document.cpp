#include "algorithms/formats/msccl_document.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/core.h>
#include <pugixml.hpp>

#include "sim/lines.hpp"
#include "sim/words.hpp"

namespace athanor {

namespace {

constexpr std::size_t kMostProblems = 20;
constexpr std::uint32_t kMostNumber = 1U << 20U;  // of chunks, steps, channels, ...: beyond it a file is mistaken

constexpr std::array<std::string_view, 9> kOperations{"nop", "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re"};

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 7> kCollectives{
    {{"allreduce", CollectiveKind::all_reduce},
     {"allgather", CollectiveKind::all_gather},
     {"reduce_scatter", CollectiveKind::reduce_scatter},
     {"reducescatter", CollectiveKind::reduce_scatter},
     {"broadcast", CollectiveKind::broadcast},
     {"reduce", CollectiveKind::reduce},
     {"alltoall", CollectiveKind::all_to_all}}};

class Reader {
 public:
  Reader(std::string_view text, const std::string& file) : file_(file), lines_(text) {
    const pugi::xml_parse_result result = xml_.load_buffer(text.data(), text.size());
    if (!result) {
      throw ScenarioError(Problem{"not-xml", fmt::format("this is no XML: {}", result.description()),
                                  lines_.place(file_, result.offset), ""});
    }
  }

  MscclDocument read() {
    const pugi::xml_node algo = xml_.child("algo");
    if (!algo) {
      throw ScenarioError(
          Problem{"not-msccl", "there is no <algo> element", {file_, 1, 1, ""}, "this is not an MSCCL algorithm"});
    }
    MscclDocument document = read_head(algo);
    const std::uint32_t ranks = number(algo, "ngpus", 2);
    std::uint32_t expected = 0;
    for (const pugi::xml_node node : algo.children()) {
      if (known(node, "gpu")) { document.gpus.push_back(read_gpu(node, expected++, ranks)); }
    }
    if (problems_.empty() && document.gpus.size() != ranks) {
      problem(algo, "wrong-count", fmt::format("ngpus is {}, but there are {} gpus", ranks, document.gpus.size()));
    }
    for (std::size_t gpu = 0; gpu < document.gpus.size(); ++gpu) { check_dependencies(document.gpus[gpu]); }
    if (!problems_.empty()) { throw ScenarioError(problems_); }
    return document;
  }

 private:
  SourceLocation place(const pugi::xml_node& node) const {
    return lines_.place(file_, std::max<std::ptrdiff_t>(0, node.offset_debug() - 1));
  }

  void problem(const SourceLocation& place, std::string code, std::string message, std::string hint = "") {
    if (problems_.size() < kMostProblems) {
      problems_.push_back({std::move(code), std::move(message), place, std::move(hint)});
    }
  }
  void problem(const pugi::xml_node& node, std::string code, std::string message, std::string hint = "") {
    problem(place(node), std::move(code), fmt::format("<{}>: {}", node.name(), message), std::move(hint));
  }

  /// An element of that name; comments and text are passed over, other elements are problems.
  bool known(const pugi::xml_node& node, std::string_view name) {
    if (node.type() != pugi::node_element) { return false; }
    if (node.name() == name) { return true; }
    problem(node, "unknown-element", fmt::format("expected <{}>", name),
            std::string_view(node.name()) == "op" ? "this is msccl-tools' new format; write the old one" : "");
    return false;
  }

  std::string text(const pugi::xml_node& node, const char* key) {
    const pugi::xml_attribute attribute = node.attribute(key);
    if (!attribute) { problem(node, "missing-attribute", fmt::format("\"{}\" is missing", key)); }
    return attribute.value();
  }

  /// Nothing where the attribute is absent; a problem where it is no whole number from `least` to `most`.
  std::optional<std::int64_t> integer(const pugi::xml_node& node, const char* key, std::int64_t least,
                                      std::int64_t most) {
    const pugi::xml_attribute attribute = node.attribute(key);
    if (!attribute) { return std::nullopt; }
    const std::string_view word = attribute.value();
    std::int64_t value = 0;
    const auto [end, mistake] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (mistake == std::errc() && end == word.data() + word.size() && value >= least && value <= most) { return value; }
    problem(node, "wrong-value", fmt::format("{}=\"{}\" is no whole number from {} to {}", key, word, least, most));
    return least;
  }

  std::uint32_t number(const pugi::xml_node& node, const char* key, std::int64_t least) {
    const std::optional<std::int64_t> value = integer(node, key, least, kMostNumber);
    if (!value) { problem(node, "missing-attribute", fmt::format("\"{}\" is missing", key)); }
    return static_cast<std::uint32_t>(value.value_or(least));
  }
  std::uint32_t number_or(const pugi::xml_node& node, const char* key, std::uint32_t absent) {
    return static_cast<std::uint32_t>(integer(node, key, 0, kMostNumber).value_or(absent));
  }
  /// -1 says that there is none.
  std::optional<std::uint32_t> number_or_none(const pugi::xml_node& node, const char* key) {
    const std::int64_t value = integer(node, key, -1, kMostNumber).value_or(-1);
    return value < 0 ? std::nullopt : std::optional(static_cast<std::uint32_t>(value));
  }

  MscclDocument read_head(const pugi::xml_node& algo) {
    MscclDocument document;
    document.place = place(algo);
    document.name = algo.attribute("name").value();
    document.protocol = algo.attribute("proto").value();
    document.kind = read_kind(algo);
    document.chunks = number(algo, "nchunksperloop", 1);
    document.channels = number(algo, "nchannels", 1);
    document.root = number_or(algo, "root", 0);
    document.in_place = number_or(algo, "inplace", 0) != 0;
    document.out_of_place = number_or(algo, "outofplace", document.in_place ? 0 : 1) != 0;
    document.least_bytes = integer(algo, "minBytes", 0, std::numeric_limits<std::int64_t>::max());
    document.most_bytes = integer(algo, "maxBytes", 0, std::numeric_limits<std::int64_t>::max());
    if (!document.in_place && !document.out_of_place) {
      problem(algo, "wrong-value", "inplace and outofplace are both 0: nothing could use this");
    }
    return document;
  }

  CollectiveKind read_kind(const pugi::xml_node& algo) {
    const std::string word = text(algo, "coll");
    std::vector<std::string> names;
    for (const auto& [name, kind] : kCollectives) {
      if (name == word) { return kind; }
      names.emplace_back(name);
    }
    problem(algo, "unknown-collective", fmt::format("coll=\"{}\" is no collective that can be proven", word),
            fmt::format("known are {}", joined(names, ", ")));
    return CollectiveKind::all_reduce;
  }

  MscclGpu read_gpu(const pugi::xml_node& node, std::uint32_t expected, std::uint32_t ranks) {
    MscclGpu gpu;
    gpu.place = place(node);
    gpu.scratch = number_or(node, "s_chunks", 0);
    check_order(node, "id", expected);
    std::uint32_t block = 0;
    for (const pugi::xml_node child : node.children()) {
      if (known(child, "tb")) { gpu.blocks.push_back(read_block(child, block++, expected, ranks)); }
    }
    return gpu;
  }

  void check_order(const pugi::xml_node& node, const char* key, std::uint32_t expected) {
    const std::uint32_t id = number(node, key, 0);
    if (id != expected) {
      problem(node, "wrong-order", fmt::format("{}=\"{}\" where {} comes next", key, id, expected));
    }
  }

  MscclBlock read_block(const pugi::xml_node& node, std::uint32_t expected, std::uint32_t gpu, std::uint32_t ranks) {
    MscclBlock block;
    block.place = place(node);
    check_order(node, "id", expected);
    block.send = read_peer(node, "send", gpu, ranks);
    block.receive = read_peer(node, "recv", gpu, ranks);
    block.channel = number_or(node, "chan", 0);
    for (const pugi::xml_node child : node.children()) {
      if (!known(child, "step")) { continue; }
      check_order(child, "s", static_cast<std::uint32_t>(block.steps.size()));
      block.steps.push_back(read_step(child, block));
    }
    return block;
  }

  std::optional<std::uint32_t> read_peer(const pugi::xml_node& node, const char* key, std::uint32_t gpu,
                                         std::uint32_t ranks) {
    const std::optional<std::uint32_t> peer = number_or_none(node, key);
    if (peer && (*peer >= ranks || *peer == gpu)) {
      problem(node, "no-such-peer", fmt::format("{}=\"{}\" is not another one of the {} gpus", key, *peer, ranks));
    }
    return peer;
  }

  MscclStep read_step(const pugi::xml_node& node, const MscclBlock& block) {
    MscclStep step;
    step.place = place(node);
    step.operation = read_operation(node);
    if (step.operation != MscclOperation::nop) { step.count = number(node, "cnt", 1); }
    if (reads_source(step.operation)) { step.source = read_cells(node, "srcbuf", "srcoff"); }
    if (writes_destination(step.operation)) { step.destination = read_cells(node, "dstbuf", "dstoff"); }
    if (const auto depended = number_or_none(node, "depid")) {
      step.dependency = MscclDependency{*depended, number(node, "deps", 0)};
    }
    if (sends(step.operation) && !block.send) {
      problem(node, "no-peer", "sends, but its thread block has send=\"-1\"");
    }
    if (receives(step.operation) && !block.receive) {
      problem(node, "no-peer", "receives, but its thread block has recv=\"-1\"");
    }
    return step;
  }

  MscclOperation read_operation(const pugi::xml_node& node) {
    const std::string word = text(node, "type");
    const auto* const found = std::find(kOperations.begin(), kOperations.end(), word);
    if (found != kOperations.end()) { return static_cast<MscclOperation>(found - kOperations.begin()); }
    const bool residual = word == "ra" || word == "res";
    problem(node, "unknown-step", fmt::format("type=\"{}\" is no step that can be proven", word),
            residual ? "residual additions belong to no collective"
                     : fmt::format("known are {}", joined(kOperations, ", ")));
    return MscclOperation::nop;
  }

  MscclCells read_cells(const pugi::xml_node& node, const char* buffer_key, const char* offset_key) {
    MscclCells cells;
    const std::string word = text(node, buffer_key);
    if (word == "i") {
      cells.buffer = Buffer::input;
    } else if (word == "o") {
      cells.buffer = Buffer::output;
    } else if (word == "s") {
      cells.buffer = Buffer::scratch;
    } else {
      problem(node, "wrong-value", fmt::format("{}=\"{}\" is none of i, o and s", buffer_key, word));
    }
    cells.first = number(node, offset_key, 0);
    return cells;
  }

  void check_dependencies(const MscclGpu& gpu) {
    for (const MscclBlock& block : gpu.blocks) {
      for (const MscclStep& step : block.steps) {
        if (!step.dependency) { continue; }
        const auto [other, index] = *step.dependency;
        if (other < gpu.blocks.size() && index < gpu.blocks[other].steps.size()) { continue; }
        problem(step.place, "no-such-step",
                fmt::format("<step>: depends on step {} of thread block {}, which does not exist", index, other));
      }
    }
  }

  std::string file_;
  Lines lines_;
  pugi::xml_document xml_;
  std::vector<Problem> problems_;
};

}  // namespace

std::string_view name(MscclOperation operation) { return kOperations[static_cast<std::size_t>(operation)]; }

std::optional<std::string_view> msccl_name(CollectiveKind kind) {
  const auto* const found =
      std::find_if(kCollectives.begin(), kCollectives.end(), [&](const auto& each) { return each.second == kind; });
  return found == kCollectives.end() ? std::nullopt : std::optional(found->first);
}

bool has_parts(CollectiveKind kind) {
  return kind == CollectiveKind::all_gather || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_to_all;
}

bool receives(MscclOperation operation) {
  switch (operation) {
    case MscclOperation::receive:
    case MscclOperation::receive_copy_send:
    case MscclOperation::receive_reduce_send:
    case MscclOperation::receive_reduce_copy:
    case MscclOperation::receive_reduce_copy_send: return true;
    case MscclOperation::nop:
    case MscclOperation::send:
    case MscclOperation::copy:
    case MscclOperation::reduce: break;
  }
  return false;
}

bool sends(MscclOperation operation) {
  switch (operation) {
    case MscclOperation::send:
    case MscclOperation::receive_copy_send:
    case MscclOperation::receive_reduce_send:
    case MscclOperation::receive_reduce_copy_send: return true;
    case MscclOperation::nop:
    case MscclOperation::receive:
    case MscclOperation::receive_reduce_copy:
    case MscclOperation::copy:
    case MscclOperation::reduce: break;
  }
  return false;
}

bool reads_source(MscclOperation operation) {
  return operation != MscclOperation::nop && operation != MscclOperation::receive &&
         operation != MscclOperation::receive_copy_send;
}

bool writes_destination(MscclOperation operation) {
  return operation != MscclOperation::nop && operation != MscclOperation::send &&
         operation != MscclOperation::receive_reduce_send;
}

MscclDocument parse_msccl(std::string_view text, const std::string& file) { return Reader(text, file).read(); }

}  // namespace athanor
