#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/software/profile.hpp"

namespace athanor {

/// Whose property a figure is, and so which stacks share it.
enum class FigureOwner : std::uint8_t {
  library,    ///< what it takes to launch a kernel: NCCL, RCCL
  host,       ///< the processes and processors that launch
  gpu,        ///< a generation of GPUs, and how they are joined within a node
  node_link,  ///< what joins GPUs within a node
  transport,  ///< NICs with the plugin that drives them
  nobody,     ///< structure of the library, the same everywhere
};

/// Figures of a kind differ from stack to stack by like factors.
enum class FigureKind : std::uint8_t { launch, skew, step, rate, network_time, network_rate, share };
constexpr std::size_t kFigureKinds = 7;

/// Figures of one family are high or low together: on a slow network messages of all protocols are late.
enum class FigureFamily : std::uint8_t { none, network_latency, network_rate };
constexpr std::size_t kFigureFamilies = 2;  ///< beside none

/// How a figure is written.
enum class FigureUnit : std::uint8_t { time, bandwidth, share };

/// One cost of a profile with "nccl" by which stacks of software differ, as fits see it: a positive number, in ps, in
/// bytes per second, or a share.
struct Figure {
  std::string name{};  ///< "LL.network_latency": keys of the profile's "nccl"; "launch" is the profile's own
  FigureOwner owner = FigureOwner::nobody;
  FigureKind kind = FigureKind::step;
  FigureUnit unit = FigureUnit::time;
  FigureFamily family = FigureFamily::none;
  double least = 1;  ///< bounds that healthy and sick stacks have kept
  double most = 1;
  double typical = 1;  ///< of NCCL on GPUs with NVLink and InfiniBand: where the search for a better one begins
  std::function<double(const Profile&)> get{};
  std::function<void(Profile&, double)> set{};  ///< what is beyond the bounds becomes the bound
};

/// All of them. The profile that `get` and `set` are called with must have "nccl".
const std::vector<Figure>& figures();
/// The place of a figure among them; size() where none has this name.
std::size_t figure_index(std::string_view name);

}  // namespace athanor
