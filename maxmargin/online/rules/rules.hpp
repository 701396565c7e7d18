#pragma once

#include <variant>

#include "maxmargin/online/rules/adaptive_huber.hpp"
#include "maxmargin/online/rules/huber.hpp"
#include "maxmargin/online/rules/novelty.hpp"
#include "maxmargin/online/rules/nu_classification.hpp"
#include "maxmargin/online/rules/nu_tube.hpp"
#include "maxmargin/online/rules/passive_aggressive.hpp"
#include "maxmargin/online/rules/passive_aggressive_regression.hpp"
#include "maxmargin/online/rules/pegasos.hpp"
#include "maxmargin/online/rules/perceptron.hpp"
#include "maxmargin/online/rules/regularised_perceptron.hpp"
#include "maxmargin/online/rules/soft_margin.hpp"
#include "maxmargin/online/rules/squared.hpp"
#include "maxmargin/online/rules/squared_hinge.hpp"

namespace maxmargin {

/// The list of update rules: options, help texts, checkpoints, the table in docs/online.md and the
/// tests are derived from it.
using Rule =
    std::variant<SoftMarginRule, NuClassificationRule, PerceptronRule, RegularisedPerceptronRule,
                 SquaredHingeRule, PassiveAggressiveRule, PegasosRule, NoveltyRule, SquaredRule,
                 NuTubeRule, HuberRule, AdaptiveHuberRule, PassiveAggressiveRegressionRule>;

}  // namespace maxmargin
