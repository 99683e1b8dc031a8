"""The table of mutants: known ways to get a guarantee slightly wrong, and the test for each."""

from tests.support.mutation import Mutant, delete, insert_before, replace, swap

WORDS = "tests/core/test_sampling.py::test_every_word_enumerated_gives_every_ticket_equally_often"
LAW = "tests/core/test_sampling.py::test_every_tape_enumerated_gives_the_claimed_law"
BULK = "tests/core/test_sampling.py::test_bulk_and_single_draws_agree_on_one_tape"
MARGIN = "tests/core/test_lattice.py::test_floats_need_the_margin_and_no_more"
ROUNDING = "tests/core/test_exact.py::test_rounding_moves_with_the_lattice"
EDGES = "tests/core/test_exact.py::test_fast_rounding_is_exact_rounding_at_the_edges_of_cells"
DISTANCE = (
    "tests/core/test_profile_curves.py::test_the_worst_distance_is_the_largest_over_all_moves"
)
DISTANCES = "tests/core/test_steps.py::test_the_profile_is_brute_force_over_a_grid_of_moves"
INVERSION = "tests/core/test_inversion.py"
DECIDED = f"{INVERSION}::test_every_word_of_every_length_is_decided_iff_it_can_be"
RUNS = f"{INVERSION}::test_adversarial_words_land_where_exact_inversion_puts_them"
STAIRCASE = "tests/core/test_staircase.py"
DIGITS = f"{STAIRCASE}::test_digits_one_by_one_and_together_are_the_same"
PARTS = f"{STAIRCASE}::test_every_pair_of_parts_gives_one_index_of_their_weight"
STEEPER = f"{STAIRCASE}::test_a_ratio_a_hair_smaller_is_not_private"
VECTOR = "tests/mechanism/test_vector.py"
VECTOR_MARGIN = f"{VECTOR}::test_coordinates_that_are_inexact_need_the_margin_too"
VECTOR_NOISE = f"{VECTOR}::test_too_little_noise_is_impossible"
VECTOR_LENGTH = f"{VECTOR}::test_vectors_that_are_too_long_are_rejected"
RELEASE = "tests/core/test_release.py"
COVERED = f"{RELEASE}::test_the_interval_covers_as_often_as_it_says_and_no_narrower_one_does"
WITHIN_BOUND = f"{RELEASE}::test_an_answer_is_a_lattice_point_within_its_bound"
SATURATED = (
    "tests/mechanism/test_honesty.py::"
    "test_the_type_of_released_integers_does_not_tell_where_they_lie"
)
THEOREM_3 = "tests/calibration/test_line.py::test_theorem_3_exactly"
TAMPERED = (
    "tests/certificate/test_certificate.py::test_a_promise_smaller_by_a_trillionth_is_refused"
)
WINDOW = (
    "tests/certificate/test_lattice_bound.py::"
    "test_multipliers_of_a_window_too_small_prove_no_more_than_the_truth"
)
FLOORS = "tests/certificate/test_lattice_bound.py::test_floors_lie_below_the_cost"
CHANGED = "tests/certificate/test_document.py::test_any_change_is_refused"
LOSSES = "tests/accounting/test_privacy_loss.py"
CHORDS = f"{LOSSES}::test_chords_lie_above_and_the_hull_below"
TRIMMED = f"{LOSSES}::test_trimming_moves_losses_to_the_stated_side"
CONVOLVED = f"{LOSSES}::test_convolving_in_floats_would_break_the_bound"
LEDGER, CHAIN, SHARED = (f"tests/ledger/test_{of}.py" for of in ("ledger", "chain", "shared"))
ALLOCATIONS = "tests/ledger/test_allocations.py"
FORGED = "tests/ledger/test_malformed.py::test_rows_that_no_ledger_writes_are_not_verified"
DESCRIBED = "tests/ledger/test_described_costs.py"
SHARES = "tests/planning/test_plan_shares.py"
CHARGED_FIRST = f"{LEDGER}::test_the_charge_is_on_disk_before_noise_is_drawn"
STORED_FIRST = f"{LEDGER}::test_the_answer_is_on_disk_before_it_leaves"
JUST_REACHED = f"{LEDGER}::test_a_limit_is_never_passed_and_just_reached"
DELTA_ALONE = f"{LEDGER}::test_a_delta_alone_can_pass_a_limit"
ANALYSTS = f"{LEDGER}::test_limits_of_data_sets_and_analysts_hold_together"
ONE_QUESTION = f"{LEDGER}::test_a_key_stands_for_one_question"
LONG_SUMS = f"{CHAIN}::test_a_sum_that_grows_too_long_is_never_too_small"
ONE_RELATION = "tests/ledger/test_units.py::test_a_dataset_has_one_neighbor_relation"
NO_MIXTURE = (
    "tests/ledger/test_units.py"
    "::test_a_ledger_of_0_5_0_that_mixes_relations_is_an_add_remove_guarantee"
)
HAIR = f"{CHAIN}::test_a_sum_that_just_fits_and_one_a_hair_above"
EDITED = f"{CHAIN}::test_an_edit_that_leaves_a_row_well_formed_is_noticed"
EDITED_LATER = f"{CHAIN}::test_a_row_that_is_damaged_while_the_ledger_is_open_gives_no_answer"
OLDER = f"{CHAIN}::test_an_older_copy_is_told_by_a_head_or_a_log"
WITNESSED = f"{CHAIN}::test_an_answer_that_was_stored_but_not_witnessed_is_witnessed_by_the_retry"
CELLS = "tests/core/test_study_samples.py::test_the_cells_of_a_staircase_have_exactly_their_masses"
FORKED = f"{SHARED}::test_a_ledger_can_be_used_on_both_sides_of_a_fork"
ON_DISK = f"{SHARED}::test_a_commit_is_on_disk_when_it_returns"
UNPROVED = f"{RELEASE}::test_a_mechanism_whose_sampled_noise_fails_the_proof_cannot_exist"
SHARED_NUMBERS = "tests/tables/test_shared_numbers.py"
AGREES = f"{SHARED_NUMBERS}::test_a_count_and_a_mean_of_the_same_rows_agree"
DISTINCT = f"{SHARED_NUMBERS}::test_equal_numbers_are_one"
ADD_NOISE = "tests/tables/test_add_noise.py"
ALONE = f"{ADD_NOISE}::test_a_group_of_one_unit_is_never_shown_not_even_by_the_largest_noise"
NEAR = f"{ADD_NOISE}::test_intervals_hold_the_truth_as_often_as_they_say_and_bounds_always"
BOUNDING = "tests/tables/test_bounding.py"
REACHED = f"{BOUNDING}::test_sums_and_counts_reach_what_is_declared"
GROUPS = f"{BOUNDING}::test_as_many_groups_move_as_are_declared"
PLANS = "tests/planning/test_plans.py"
PROVED_SHARED = f"{PLANS}::test_a_shared_plan_is_proved_from_its_noise"
PROVED_SPLIT = f"{PLANS}::test_a_plan_that_was_put_together_wrongly_is_found_out"
SPLIT_EXACTLY = f"{PLANS}::test_a_split_is_exact"
SHARED_OUT = "tests/tables/test_budget.py::test_what_one_unit_can_move_adds_up_to_the_guarantee"
SHARE = "tests/tables/test_share_and_error.py"
MEAN = "tests/tables/test_mean_error.py"
SHARE_OF_COST = f"{SHARE}::test_a_share_of_an_allocation_is_charged_exactly_and_covers_the_noise"
FIFTIETHS = f"{SHARE}::test_fifty_fiftieths_are_all_of_it_and_one_more_is_rejected"
WIDTH_OF_MEAN = f"{MEAN}::test_the_interval_of_a_mean_is_at_most_the_bound_for_any_released_sum"
CHARGED_EACH = f"{MEAN}::test_a_mean_is_charged_step_by_step_and_repeated_for_nothing"

SELECTION = "tests/core/test_selection.py"
SETTLED = f"{SELECTION}::test_a_coin_is_settled_by_so_many_bits_iff_it_can_be"
TOGETHER = f"{SELECTION}::test_many_coins_land_where_one_by_one_they_do"
CHOSEN = f"{SELECTION}::test_every_outcome_of_the_coins_chooses_each_that_landed_equally_often"
NEIGHBORING = (
    f"{SELECTION}::test_neighboring_errors_change_no_probability_by_more_than_the_guarantee"
)
SELECTED = f"{SELECTION}::test_the_sampled_law_is_the_exact_one"
SAME_WORK = f"{SELECTION}::test_the_work_is_the_same_for_all_errors"

QUANTILES = "tests/tables/test_quantiles.py"
RANKED = f"{QUANTILES}::test_rank_errors_are_what_they_say_and_one_is_zero"
STATED = f"{QUANTILES}::test_the_stated_error_is_the_smallest_by_the_formula"
COVERING = f"{QUANTILES}::test_an_interval_covers_as_it_says_whatever_the_table"
EVERY_EPSILON = f"{QUANTILES}::test_quantiles_share_with_other_numbers"
SPLIT_IN_THREE = f"{QUANTILES}::test_a_quantile_alone_gets_all_of_epsilon_and_spends_no_delta"

SELECTIONS = [
    Mutant(
        "a bin's rank error forgets its upper edge",
        "leastnoise.tables.queries.selecting:rank_errors",
        delete("errors[:-1] = np.maximum(errors[:-1], -ranks)"),
        RANKED,
    ),
    Mutant(
        "a rank error is stated one too small",
        "leastnoise.mechanism.selection:_error_bound",
        replace("first_index(0, last, is_rare) - 1", "first_index(0, last, is_rare) - 2"),
        STATED,
    ),
    Mutant(
        "each end of an interval may fail as often as both",
        "leastnoise.tables.queries.quantile:end_shift",
        replace("1 - (1 - confidence) / 2", "confidence / 2"),
        COVERING,
    ),
    Mutant(
        "three selections for the price of one",
        "leastnoise.tables.queries.quantile:Quantile.plan",
        replace("1 if self.interval is None else 3", "1"),
        SPLIT_IN_THREE,
    ),
    Mutant(
        "a unit counts in several bins of a group",
        "leastnoise.tables.bounding.bounding:Selection._choose_groups",
        replace("self.bin is not None and self.groups > 1", "False"),
        "tests/tables/test_many_group_quantiles.py::"
        "test_a_unit_counts_in_one_bin_of_each_of_its_groups",
    ),
    Mutant(
        "every group of a quantile costs as much as one alone",
        "leastnoise.tables.released_number:divide_cost",
        replace(
            "cost.square * _ROUNDING * part / number.touched", "cost.square * _ROUNDING * part"
        ),
        "tests/tables/test_many_group_quantiles.py::"
        "test_costs_of_selections_add_up_to_the_guarantee",
    ),
    Mutant(
        "a selection in two groups pays for one",
        "leastnoise.tables.budget:_allocate",
        replace("privacy.epsilon * part / number.touched", "privacy.epsilon * part"),
        EVERY_EPSILON,
    ),
    Mutant(
        "a coin lands before it is certain",
        "leastnoise.core.sampling.coins:Coins.lands_if_certain",
        replace("word + 1 <= chance.lower * (1 << bits)", "word <= chance.lower * (1 << bits)"),
        SETTLED,
    ),
    Mutant(
        "a rare coin never lands",
        "leastnoise.core.sampling.coins:Coins.lands_if_certain",
        replace("0 if word else None", "0"),
        SETTLED,
    ),
    Mutant(
        "floats decide for coins",
        "leastnoise.core.arrays.selection:flip",
        replace("np.abs(gaps) < DOUBT", "np.abs(gaps) < 0"),
        TOGETHER,
    ),
    Mutant(
        "the first coin that landed is chosen",
        "leastnoise.core.arrays.selection:choose",
        replace("uniform_below(len(landed), tape)", "0"),
        CHOSEN,
    ),
    Mutant(
        "coins are flipped until one lands",
        "leastnoise.core.arrays.selection:choose",
        insert_before(
            "landed = np.flatnonzero(flip(errors, coins, tape))",
            """
            for place, error in enumerate(errors.tolist()):
                if coins.lands(error, tape.word(64), tape):
                    return place
            """,
        ),
        SAME_WORK,
    ),
    Mutant(
        "errors weigh twice as much",
        "leastnoise.core.selection:Selector.rate",
        replace("2 * self.sensitivity", "self.sensitivity"),
        NEIGHBORING,
    ),
    Mutant(
        "errors are not measured from the least",
        "leastnoise.core.selection:Selector.choose",
        replace("integers - integers.min()", "integers"),
        SELECTED,
    ),
]

SAMPLING = [
    Mutant(
        "<= for < when refusing a word",
        "leastnoise.core.sampling.schemes:ticket_if_accepted",
        replace("low < (1 << bits) % total", "low <= (1 << bits) % total"),
        WORDS,
    ),
    Mutant(
        "% instead of refusing words",
        "leastnoise.core.sampling.schemes:ticket_if_accepted",
        insert_before("product = word * total", "return word % total"),
        WORDS,
    ),
    Mutant(
        "no word refused in bulk",
        "leastnoise.core.arrays.draw:_take_tickets",
        replace("(1 << 64) % total", "0"),
        BULK,
    ),
    Mutant(
        "> for >= at the atom",
        "leastnoise.core.sampling.schemes:TicketScheme.index_of",
        replace("ticket >= self.total - self.atom", "ticket > self.total - self.atom"),
        LAW,
    ),
    Mutant(
        "the first word decides, whatever it is",
        "leastnoise.core.sampling.schemes:RunScheme.index_if_certain",
        replace("lowest if lowest == highest else None", "lowest"),
        DECIDED,
    ),
    Mutant(
        "floats decide at the edges of points",
        "leastnoise.core.arrays.lookup:RunLookup.propose",
        replace("places < 2 * self._doubt", "places == 0"),
        RUNS,
    ),
    Mutant(
        "floats decide at the edges of runs",
        "leastnoise.core.arrays.lookup:RunLookup._look_up",
        replace("place - index < 2 * self._doubts[run]", "place - index < 0"),
        RUNS,
    ),
    Mutant(
        "thresholds decide for digits",
        "leastnoise.core.arrays.lookup:DigitLookup.propose",
        replace("(single - self._thresholds[digit] <= 1) & (digit > 0)", "digit < 0"),
        DIGITS,
    ),
    Mutant(
        "the cell of a fall without its low part",
        "leastnoise.core.noise.staircase:Staircase.sampler",
        replace("part.numerator * high", "unit * high"),
        CELLS,
    ),
    Mutant(
        "the next period begun with its full weight",
        "leastnoise.core.sampling.staircase:mirror_period",
        replace("fall * runs[0].weight", "unit * runs[0].weight"),
        PARTS,
    ),
]
LATTICE = [
    Mutant(
        "half-even rounding",
        "leastnoise.core.lattice:Grid.index",
        replace(
            "(numerator * self._twice_under + lower) // (2 * lower)",
            "round(Fraction(numerator * self._twice_under, 2 * lower))",
        ),
        ROUNDING,
    ),
    Mutant(
        "k for k + 1",
        "leastnoise.core.lattice:effective_steps",
        replace("2 * answers", "answers"),
        MARGIN,
    ),
    Mutant(
        "a vector is rounded with the margin of exact coordinates",
        "leastnoise.core.lattice:effective_square",
        replace("steps ** 2 + 4 * dimension + mixed", "steps ** 2 + dimension + mixed // 2"),
        VECTOR_MARGIN,
    ),
    Mutant(
        "the noise of a vector is not checked",
        "leastnoise.core.release:VectorReleaser.__post_init__",
        replace("not cost.fits(find_caps(self.privacy))", "False"),
        VECTOR_NOISE,
    ),
    Mutant(
        "a vector longer than its margin covers",
        "leastnoise.core.release:VectorReleaser.prepare_array",
        replace("values.size > self.dimension", "False"),
        VECTOR_LENGTH,
    ),
    Mutant(
        "floats decide at cell edges",
        "leastnoise.core.arrays.release:FloatRounding.indices",
        replace("scratch.min() < 2 * self.doubt", "scratch.min() < 0"),
        EDGES,
    ),
    Mutant(
        "the sign of zero survives",
        "leastnoise.core.arrays.release:FloatRounding.indices",
        replace("np.floor(scratch, out=out)", "np.copysign(np.floor(scratch), block, out=out)"),
        EDGES,
    ),
    Mutant(
        "whole numbers wrap at the ends of 64 bits",
        "leastnoise.core.arrays.release:saturating_add",
        insert_before("ends = np.iinfo(np.int64)", "return integers + shift"),
        SATURATED,
    ),
    Mutant(
        "half a step of rounding missing from intervals",
        "leastnoise.core.lattice:rounding_error",
        replace("step / 2", "Fraction(0)"),
        COVERED,
    ),
    Mutant(
        "half a step of rounding missing from the largest error",
        "leastnoise.mechanism.answer:farthest",
        replace(
            "noise.radius + rounding_error(noise.step, integer=mechanism.integer)", "noise.radius"
        ),
        WITHIN_BOUND,
    ),
]
PROOFS = [
    Mutant(
        "a mechanism whose sampled noise is not proved",
        "leastnoise.core.release:Releaser.__post_init__",
        delete("check_privacy(self.noise, self.privacy, sensitivity=self.effective_sensitivity)"),
        UNPROVED,
    ),
    Mutant(
        "width × 0.99",
        "leastnoise.core.noise.uniform:Uniform.discretize",
        replace("self.width", "self.width * Fraction(99, 100)"),
        THEOREM_3,
    ),
    Mutant(
        "width × 0.99 on the line, unchecked",
        "leastnoise.certificate.certificate:Certificate.verify",
        replace(
            "check_privacy(self.noise, self.privacy, sensitivity=self.sensitivity)",
            "check_privacy(self.noise, self.privacy, sensitivity=self.sensitivity * 99 / 100)",
        ),
        TAMPERED,
    ),
    Mutant(
        "atom off by one unit",
        "leastnoise.core.noise.uniform:Uniform.discretize",
        replace("floor(spare)", "floor(spare) + 1"),
        THEOREM_3,
    ),
    Mutant(
        "k - 1 for k in the distance",
        "leastnoise.core.noise.kinds:FiniteLatticeNoise.total_variation",
        replace(
            "self.central_mass(sensitivity // self.step)",
            "self.central_mass(sensitivity // self.step - 1)",
        ),
        DISTANCE,
    ),
    Mutant(
        "e^ε rounded up for a staircase",
        "leastnoise.core.guarantee:_falls_slowly",
        replace(
            "noise.ratio * exponential(privacy.epsilon / periods).lower >= 1",
            "noise.ratio * exponential(privacy.epsilon / periods).upper"
            " >= 1 - Fraction(1, 1 << 100)",
        ),
        STEEPER,
    ),
    Mutant(
        "the longest move worst for any noise",
        "leastnoise.core.profile.piecewise:Shape.shifts",
        replace("self.is_unimodal", "self.pieces"),
        DISTANCES,
    ),
    Mutant(
        "mass beyond the lattice charged too much",
        "leastnoise.certificate.lattice_bound:LatticeBound.find_least_charge",
        replace("(1 - factor) * total / 2", "Fraction(total)"),
        WINDOW,
    ),
    Mutant(
        "no sag below the chords",
        "leastnoise.certificate.lattice_bound:Frame.floors",
        replace("low - max(before, after)", "low"),
        FLOORS,
    ),
    Mutant(
        "no digest",
        "leastnoise.certificate.document:certificate_from_json",
        replace(
            'content.pop("digest", None) != _digest(content)', 'not content.pop("digest", None)'
        ),
        CHANGED,
    ),
    Mutant(
        "products of masses rounded down",
        "leastnoise.accounting.privacy_loss:Losses._round",
        replace(
            "-(-exact >> self.grid.bits) if self.above else exact >> self.grid.bits",
            "exact >> self.grid.bits",
        ),
        CONVOLVED,
    ),
    Mutant(
        "losses beyond the highest forgotten",
        "leastnoise.accounting.privacy_loss:Losses.trim",
        delete("infinite += sum(masses[len(masses) - after :])"),
        TRIMMED,
    ),
    Mutant(
        "no sag below the chords of a curve",
        "leastnoise.accounting.discretize:_lower_other_chords",
        replace("low - max(pair)", "low"),
        CHORDS,
    ),
    Mutant(
        "what lies in a cell at its lower end",
        "leastnoise.accounting.discretize:bound_chord_masses",
        replace(
            "(after << bits) - (one + low) * value + high * before",
            "(after << bits) - (one + high) * value + one * before",
        ),
        CHORDS,
    ),
]
LEDGERS = [
    Mutant(
        "drawn before it is charged",
        "leastnoise.ledger.recording:Recording._release_recorded",
        insert_before(
            "receipt, stored = ledger.charge_or_recall(charge, self.key, fresh=self.fresh)",
            "drawn = draw(); draw = lambda tape: drawn",
        ),
        CHARGED_FIRST,
    ),
    Mutant(
        "returned without being stored",
        "leastnoise.ledger.recording:Recording._release_recorded",
        replace("answer = codec.encode(draw(ledger._new_tape()))", "return draw(), receipt"),
        STORED_FIRST,
    ),
    Mutant(
        "a limit that cannot be reached",
        "leastnoise.ledger.accounts:Accounts._find_exceeded",
        replace("part > most", "part >= most > 0"),
        JUST_REACHED,
    ),
    Mutant(
        "a limit passed by a hair",
        "leastnoise.ledger.accounts:Accounts._find_exceeded",
        replace("part > most", "float(part) > float(most)"),
        HAIR,
    ),
    Mutant(
        "the δ of a charge forgotten",
        "leastnoise.ledger.accounts:Accounts._find_exceeded",
        replace("zip(total, limit, strict=True)", "zip(total[:1], limit[:1], strict=True)"),
        DELTA_ALONE,
    ),
    Mutant(
        "an analyst's limit forgotten",
        "leastnoise.ledger.accounts:Accounts._find_exceeded",
        replace("charged_names(dataset, analyst)", "charged_names(dataset, None)"),
        ANALYSTS,
    ),
    Mutant(
        "a long sum rounded down",
        "leastnoise.ledger.sums:add_up",
        replace(
            "-(-(total.numerator << LONGEST_SUM) // total.denominator)",
            "(total.numerator << LONGEST_SUM) // total.denominator",
        ),
        LONG_SUMS,
    ),
    Mutant(
        "any promise under a key",
        "leastnoise.ledger.charging:PreparedCharge.write",
        delete("check_same_query(self._key, row.content, self._body, spending.formerly)"),
        ONE_QUESTION,
    ),
    Mutant(
        "caps of an allocation that are not proved",
        "leastnoise.ledger.allocations:read_allocation",
        replace("GaussianCost(square, failure).delta(epsilon) > delta", "False"),
        f"{FORGED}[caps that are a little too large]",
    ),
    Mutant(
        "an allocation overspent by a hair",
        "leastnoise.ledger.allocations:Allocations.fits",
        replace("total[0] <= caps[0]", "float(total[0]) <= float(caps[0])"),
        f"{ALLOCATIONS}::test_costs_are_added_exactly_up_to_the_caps",
    ),
    Mutant(
        "the failure probability of an allocation forgotten",
        "leastnoise.ledger.allocations:Allocations.fits",
        replace("total[1] <= caps[1]", "True"),
        f"{ALLOCATIONS}::test_costs_are_added_exactly_up_to_the_caps",
    ),
    Mutant(
        "an allocation that is not charged",
        "leastnoise.ledger.accounts:Accounts.follow",
        delete(
            "self._add_guarantee(charged_names(allocation.dataset, allocation.analyst), "
            "allocation.privacy)"
        ),
        f"{ALLOCATIONS}::test_an_allocation_is_one_charge_of_its_guarantee",
    ),
    Mutant(
        "an allocation beyond the limit",
        "leastnoise.ledger.opening:make_allocation",
        delete('page.accounts.check_limits(dataset, analyst, privacy, "allocation")'),
        f"{ALLOCATIONS}::test_an_allocation_beyond_a_limit_is_rejected",
    ),
    Mutant(
        "contributions that are not counted in an allocation",
        "leastnoise.mechanism.mechanism:Mechanism.spending",
        replace("self.gaussian_cost * contributions", "self.gaussian_cost"),
        f"{ALLOCATIONS}::test_what_each_kind_of_release_costs",
    ),
    Mutant(
        "groups of a unit that are not counted in an allocation",
        "leastnoise.tables.release:PreparedRelease.gaussian_cost",
        replace("noise.gaussian_cost * times", "noise.gaussian_cost"),
        f"{ALLOCATIONS}::test_what_table_queries_cost",
    ),
    Mutant(
        "an audit that does not add up costs",
        "leastnoise.ledger.audit:Audit._spend_cost",
        delete("self._costs[allocation] = total"),
        f"{FORGED}[spends that exceed the cap together]",
    ),
    Mutant(
        "an audit that lets an analyst with a limit spend from any allocation",
        "leastnoise.ledger.audit:Audit._spend_cost",
        replace("name[1] != self._owners[allocation]", "False"),
        f"{DESCRIBED}::test_a_spend_of_an_analyst_whose_limit_was_not_charged_is_not_verified",
    ),
    Mutant(
        "an audit that does not compare costs with noise",
        "leastnoise.ledger.audit:Audit._charge",
        delete("check_described(charge.stated, self._described)"),
        f"{DESCRIBED}::test_a_cost_below_that_of_the_noise_is_not_verified[Gaussian integer]",
    ),
    Mutant(
        "a plan that charges its noise instead of its share",
        "leastnoise.planning.charges:find_cost",
        replace("return privacy.cost", "return cost"),
        f"{SHARES}::test_ten_tenths_fill_an_allocation_exactly",
    ),
    Mutant(
        "two allocations of one name",
        "leastnoise.ledger.audit:Audit._allocate",
        replace("key in self._caps", "False"),
        f"{FORGED}[an allocation twice]",
    ),
    Mutant(
        "two neighbor relations in one dataset",
        "leastnoise.ledger.charging:PreparedCharge.write",
        delete("page.accounts.check_relation(dataset, read_unit(spending.asked))"),
        ONE_RELATION,
    ),
    Mutant(
        "a total of both relations is one for replacing",
        "leastnoise.ledger.units:find_relation",
        replace(
            "_ADD_REMOVE if len(relations) > 1 else next(iter(relations), None)",
            "max(relations, default=None)",
        ),
        NO_MIXTURE,
    ),
    Mutant(
        "no hash checked",
        "leastnoise.ledger.accounts:Accounts.follow",
        replace(
            "not known or row.seq != seq or row.compute_hash(before) != row.hash",
            "not row.hash",
        ),
        EDITED,
    ),
    Mutant(
        "rows read out of turn unchecked",
        "leastnoise.ledger.chain:find_rows",
        replace("row.hash != row.compute_hash(before.hash if before else BEGINNING.hash)", "False"),
        EDITED_LATER,
    ),
    Mutant(
        "the witness not asked",
        "leastnoise.ledger.chain:Chain.verify",
        delete("expected = [*expected, *self._witness.heads()]"),
        OLDER,
    ),
    Mutant(
        "a retry not witnessed",
        "leastnoise.ledger.chain:Chain.writing",
        swap("self._witness.note(accounts.head)", "self._noted = accounts.head"),
        WITNESSED,
    ),
    Mutant(
        "open across a fork",
        "leastnoise.ledger.stores.sqlite:_before_fork",
        replace("list(_STORES)", "()"),
        FORKED,
    ),
    Mutant(
        "a commit that is not on disk",
        "leastnoise.ledger.stores.sqlite:_SETTINGS",
        replace("'PRAGMA synchronous = FULL'", "'PRAGMA synchronous = NORMAL'"),
        ON_DISK,
    ),
]
TABLES = [
    Mutant(
        "the rows of one unit missing from the threshold",
        "leastnoise.tables.add_noise:show_above",
        replace("planned.rows.unit.max_rows + int(radius)", "int(radius)"),
        ALONE,
    ),
    Mutant(
        "a group shown at the threshold",
        "leastnoise.tables.queries.query:Query.add_noise",
        replace("own[0] > threshold", "own[0] >= threshold"),
        ALONE,
    ),
    Mutant(
        "a sum released in units, not in steps of its lattice",
        "leastnoise.tables.add_noise:_make_adder",
        replace(
            "partial(mechanism.releaser.add_noise_to_steps, step=number.step, tape=tape)",
            "partial(mechanism.releaser.add_noise_to_steps, step=Fraction(1), tape=tape)",
        ),
        NEAR,
    ),
    Mutant(
        "a replaced unit leaves no group",
        "leastnoise.tables.bounding.sensitivity:Contribution.touched",
        replace("2 * self.groups", "self.groups"),
        GROUPS,
    ),
    Mutant(
        "a replaced unit moves a sum by the distance of its bounds alone",
        "leastnoise.tables.bounding.sensitivity:Contribution.sum",
        replace("max(high, 0) - min(low, 0)", "high - low"),
        REACHED,
    ),
    Mutant(
        "a plan is as private as one of its answers",
        "leastnoise.planning.totals:prove_total",
        replace(
            "total_cost((block.gaussian_cost for block, _ in find_blocks(mechanisms)))",
            "mechanisms[0].gaussian_cost",
        ),
        PROVED_SHARED,
    ),
    Mutant(
        "a plan beyond its guarantee is not rejected",
        "leastnoise.planning.totals:prove_total",
        replace("total.epsilon > limit.epsilon or total.delta > limit.delta", "False"),
        PROVED_SPLIT,
    ),
    Mutant(
        "parts of ε that together exceed it",
        "leastnoise.planning.shares:apportion",
        replace("total - sum(parts)", "total"),
        SPLIT_EXACTLY,
    ),
    Mutant(
        "every group gets the whole guarantee",
        "leastnoise.tables.budget:_find_noise",
        replace("sum((number.touched for number in numbers))", "len(numbers)"),
        SHARED_OUT,
    ),
    Mutant(
        "a number that was charged once is drawn twice",
        "leastnoise.tables.add_noise:_Once.__call__",
        replace("self._noisy is None", "True"),
        AGREES,
    ),
    Mutant(
        "sums of different values are released as one number",
        "leastnoise.tables.queries.planned_query:PlannedQuery.identities",
        replace("summed.identity", "'sum'"),
        DISTINCT,
    ),
    Mutant(
        "many groups cost as much of an allocation as one",
        "leastnoise.tables.released_number:divide_cost",
        replace(
            "cost.square * _ROUNDING * part / number.touched", "cost.square * _ROUNDING * part"
        ),
        SHARE_OF_COST,
    ),
    Mutant(
        "a part of an allocation is charged by half",
        "leastnoise.tables.release:PreparedRelease.cost",
        replace("self.together.cost", "self.together.cost * Fraction(1, 2)"),
        FIFTIETHS,
    ),
    Mutant(
        "the noise of the last count before a mean is forgotten",
        "leastnoise.tables.mean_target:MeanTarget.find_error",
        replace("fewest -= count.error", "pass"),
        WIDTH_OF_MEAN,
    ),
    Mutant(
        "the total of a mean omits its counts",
        "leastnoise.tables.release:_make_statement",
        replace("prepared.with_earlier or prepared.together", "prepared.together"),
        CHARGED_EACH,
    ),
    Mutant(
        "a wanted error is compared with a larger one",
        "leastnoise.tables.target_error:find_size.suffices",
        replace("error <= target.error", "error <= 2 * target.error"),
        WIDTH_OF_MEAN,
    ),
]

MUTANTS = [*SAMPLING, *SELECTIONS, *LATTICE, *PROOFS, *LEDGERS, *TABLES]
