#pragma once

#include "models/jobs/logs/log_format.hpp"

namespace athanor {

/// Each format's file ends with an explicit instantiation of it, by which the catalog finds it without a header.
template <class Format>
LogFormatEntry log_format_entry_of() {
  return {Format::kName, Format::kMeaning, []() -> std::shared_ptr<LogFormat> { return std::make_shared<Format>(); }};
}

}  // namespace athanor
