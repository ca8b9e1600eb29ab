#pragma once

#include <memory>

namespace athanor {

class ExperimentReader;
/// Of "circuits".
std::unique_ptr<ExperimentReader> circuits_reader();

}  // namespace athanor
