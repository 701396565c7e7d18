#pragma once

// The one exception belongs to the door: whoever calls the library catches it.
#include "maxmargin/error.hpp"  // IWYU pragma: export
