#pragma once

// maxmargin from C++, all of it:
//
//   #include <maxmargin/maxmargin.hpp>
//
//   const auto data = maxmargin::Dataset::read("train.svm");
//   const auto model = maxmargin::train(data, {{"cost", 10}, {"gamma", 0.5}});
//   const auto labels = model.predict(maxmargin::Dataset::read("test.svm"));
//
// data.hpp     rows, labels and weights: from a file, from your own arrays, from vectors
// options.hpp  what is asked for, by the names that `maxmargin train --help` lists
// model.hpp    train(), and what comes out: predict, save, load, its certificate
// learner.hpp  a machine that learns a row at a time
// error.hpp    the one exception, which says where, what, and how to mend it
//
// These headers include no others of the library and are the only ones that are installed.

#include "maxmargin/data.hpp"
#include "maxmargin/error.hpp"
#include "maxmargin/learner.hpp"
#include "maxmargin/model.hpp"
#include "maxmargin/options.hpp"
