#pragma once

namespace maxmargin {

/// While one of these lives, OpenBLAS does each call on the thread that makes it. The work is cut
/// up here instead, in pieces that do not depend on the number of threads, and so the results have
/// the same bits whatever that number is. OpenBLAS has one setting for the whole process, so all
/// instances share a count; the last one to go restores what was set before the first.
class SerialBlas {
 public:
  SerialBlas();
  ~SerialBlas();
  SerialBlas(const SerialBlas&) = delete;
  SerialBlas& operator=(const SerialBlas&) = delete;
};

}  // namespace maxmargin
