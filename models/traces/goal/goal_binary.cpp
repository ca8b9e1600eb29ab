#include <fmt/core.h>

#include "models/traces/goal/goal_program.hpp"
#include "models/traces/trace_options.hpp"
#include "sim/byte_source.hpp"
#include "sim/error.hpp"

namespace athanor {

namespace {

constexpr std::uint64_t kMagic = 4223;
constexpr std::size_t kMagicBytes = 8;  ///< offsets in the file count from behind it
constexpr std::size_t kNodeBytes = 39;

class BinaryReader {
 public:
  BinaryReader(std::string_view bytes, const std::string& file) : bytes_(bytes) { program_.file = file; }

  GoalProgram read() {
    if (bytes_.size() < kMagicBytes || number<std::uint64_t>(0) != kMagic) {
      fail("the file does not begin like GOAL in binary");
    }
    bytes_.remove_prefix(kMagicBytes);
    constexpr std::size_t kHeader = 6;
    const std::uint64_t ranks = number<std::uint32_t>(0);
    if (ranks == 0 || ranks > kMostTraceRanks || ranks > bytes_.size() / 16) {
      fail(fmt::format("the file says it has {} ranks", ranks));
    }
    program_.ranks.resize(ranks);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      rank_ = rank;
      const auto start = number<std::uint64_t>(kHeader + rank * 16);
      const auto end = number<std::uint64_t>(kHeader + rank * 16 + 8);
      if (start > end || end > bytes_.size()) { fail("it lies beyond the end of the file"); }
      claim(end - start);
      read_rank(bytes_.substr(start, end - start));
    }
    return std::move(program_);
  }

 private:
  /// Bytes of a file belong to one rank each: else a small file would be read over and over.
  void claim(std::uint64_t bytes) {
    claimed_ += bytes;
    if (claimed_ > bytes_.size()) { fail("it lies within the bytes of other ranks"); }
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw ScenarioError(Problem{"truncated",
                                fmt::format("rank {}: {}", rank_, what),
                                {program_.file, 0, 0, ""},
                                "was it cut off while being written or copied?"});
  }

  /// Little-endian and unaligned.
  template <class T>
  T number(std::string_view bytes, std::uint64_t at) const {
    if (at > bytes.size() || bytes.size() - at < sizeof(T)) { fail(fmt::format("it ends at byte {}", bytes.size())); }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
    }
    return static_cast<T>(value);
  }
  template <class T>
  T number(std::uint64_t at) const {
    return number<T>(bytes_, at);
  }

  void read_rank(std::string_view blob) {
    GoalProgram::Rank& rank = program_.ranks[rank_];
    rank.there = true;
    const std::uint64_t nodes = number<std::uint32_t>(blob, 0);
    const std::uint64_t roots = number<std::uint32_t>(blob, 4);
    const std::uint64_t first = 8 + 4 * roots;
    if (first > blob.size() || nodes > (blob.size() - first) / kNodeBytes) { fail("it has fewer nodes than it says"); }
    const std::uint64_t appendix = first + nodes * kNodeBytes;
    waits_left_ = (blob.size() - appendix) / 4;
    rank.operations.reserve(nodes);
    for (std::uint32_t node = 0; node < nodes; ++node) {
      const std::uint64_t at = first + node * kNodeBytes;
      rank.operations.push_back(operation(blob, at));
      add_waits(blob, appendix, number<std::uint32_t>(blob, at + 23), number<std::uint32_t>(blob, at + 27), node,
                false);
      add_waits(blob, appendix, number<std::uint32_t>(blob, at + 31), number<std::uint32_t>(blob, at + 35), node, true);
    }
    for (const GoalProgram::Wait& wait : rank.waits) {
      if (wait.later >= nodes) {
        fail(fmt::format("node {} is waited for by node {}, and there are {}", wait.earlier, wait.later, nodes));
      }
    }
  }

  GoalProgram::Operation operation(std::string_view blob, std::uint64_t at) const {
    GoalProgram::Operation operation;
    const auto type = number<std::uint8_t>(blob, at + 4);
    if (type < 1 || type > 3) {
      fail(fmt::format("a node has type {}; 1 (send), 2 (recv) and 3 (calc) are known", type));
    }
    operation.type = static_cast<GoalProgram::Type>(type);
    operation.peer = number<std::uint32_t>(blob, at + 5);
    operation.amount = number<std::uint64_t>(blob, at + 9);
    operation.tag = number<std::uint32_t>(blob, at + 17);
    operation.cpu = number<std::uint8_t>(blob, at + 21);
    const bool any = operation.peer == GoalProgram::kAny && operation.type == GoalProgram::Type::receive;
    if (type != 3 && operation.peer >= program_.ranks.size() && !any) {
      fail(fmt::format("a message has rank {} as its peer, of {} ranks", operation.peer, program_.ranks.size()));
    }
    const std::uint64_t most = type == 3 ? INT64_MAX / 1000 : kMostMessage;
    if (operation.amount > most) { fail(fmt::format("a node has {} ns or bytes", operation.amount)); }
    return operation;
  }

  void add_waits(std::string_view blob, std::uint64_t appendix, std::uint64_t count, std::uint64_t offset,
                 std::uint32_t node, bool begin) {
    if (count > waits_left_) { fail(fmt::format("node {} shares what waits for it with others", node)); }
    waits_left_ -= count;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto later = number<std::uint32_t>(blob, appendix + 4 * (offset + i));
      program_.ranks[rank_].waits.push_back({later, node, begin});
    }
  }

  std::string_view bytes_;
  GoalProgram program_;
  std::size_t rank_ = 0;
  std::uint64_t claimed_ = 0;     ///< bytes of the ranks so far
  std::uint64_t waits_left_ = 0;  ///< of the rank, in its appendix
};

}  // namespace

GoalProgram read_goal_binary(const std::string& file, Bytes limit) {
  ByteSource source(file, limit);
  const std::string bytes = source.rest();
  return BinaryReader(bytes, file).read();
}

}  // namespace athanor
