#pragma once

#include <new>

namespace maxmargin {

/// A JSON value for which there was no memory is broken when it is taken down: who hears of that
/// in a handler of std::terminate learns the reason.
[[noreturn]] inline void throw_no_memory() { throw std::bad_alloc(); }

}  // namespace maxmargin

#define JSON_ASSERT(holds) ((holds) ? static_cast<void>(0) : maxmargin::throw_no_memory())
#include <nlohmann/json.hpp>
