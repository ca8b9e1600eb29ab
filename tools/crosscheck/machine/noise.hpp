#pragma once

#include <optional>
#include <string>
#include <vector>

namespace athanor {

/// Two values around which repetitions fall, as on a processor whose clock changes or that somebody else uses now and
/// then.
struct TwoModes {
  double lower = 0;
  double upper = 0;
  double upper_share = 0;  ///< of the repetitions
};

/// Whether times of the same thing, all positive and a dozen at least, have two modes: cut where their logarithms
/// differ least from the means of the two parts, each part has a sixth of them, the upper mean is a quarter above the
/// lower one, they are five standard deviations apart, and half of what is between them is empty. Of times of one mode
/// with a long tail, twenty of them, one set in a hundred is taken for two.
std::optional<TwoModes> two_modes(const std::vector<double>& times);

/// Programs that run or wait to run on this machine, in the mean of the last minute; none where the system does not
/// tell. `root`: "" or a folder that stands for the root of the file system, for tests.
std::optional<double> load_average(const std::string& root = "");

/// A sentence where so many threads do not find idle processors beside the load; else "".
std::string load_warning(double load, unsigned processors, unsigned threads);

}  // namespace athanor
