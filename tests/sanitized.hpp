#pragma once

namespace athanor {

/// Searches for many figures take minutes with a sanitizer, which looks for something else: there, a search that is cut
/// short goes through the same code.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace athanor
