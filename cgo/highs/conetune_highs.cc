// The C interface to HiGHS that conetune_highs.h describes.

#include "conetune_highs.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "Highs.h"

struct conetune_highs {
  Highs highs;
  HighsModel model;
  std::vector<double> p_val;  // of the pattern that was given
  std::vector<char> free;     // the rows that want nothing
  bool quadratic = false;     // any of them is not zero
  bool broken = false;
};

namespace {

// The flag of the solve that runs on this thread.
thread_local const int32_t *stop_flag = nullptr;

bool stopped() { return stop_flag && __atomic_load_n(stop_flag, __ATOMIC_RELAXED) != 0; }

// Where no limit is set: later than any, earlier than the clock of a solve that is to stop.
constexpr double forever = 1e9;

void tell(const char *text, char *to, size_t size) {
  if (to == nullptr || size == 0) return;
  const size_t length = std::min(std::strlen(text), size - 1);
  std::memcpy(to, text, length);
  to[length] = 0;
}

// Runs f, whose exceptions become codes.
template <typename F>
int guarded(F f, char *text = nullptr, size_t size = 0) {
  try {
    return f();
  } catch (const std::exception &e) {
    tell(e.what(), text, size);
  } catch (...) {
    tell("exception", text, size);
  }
  return CONETUNE_HIGHS_BROKEN;
}

void quiet(Highs &h) {
  h.setOptionValue("output_flag", false);
  h.setOptionValue("log_to_console", false);
  h.setOptionValue("threads", 1);
  h.setOptionValue("parallel", "off");
  h.setOptionValue("random_seed", 0);
  h.setOptionValue("small_matrix_value", 1e-12);
  h.setOptionValue("infinite_bound", 1e30);
  h.setOptionValue("infinite_cost", 1e30);
  h.setOptionValue("allow_unbounded_or_infeasible", false);
}

void limits(Highs &h, const conetune_highs_settings &s, double seconds) {
  h.setOptionValue("primal_feasibility_tolerance", s.primal_tolerance);
  h.setOptionValue("dual_feasibility_tolerance", s.dual_tolerance);
  h.setOptionValue("ipm_optimality_tolerance", s.ipm_tolerance);
  static const char *const methods[] = {"simplex", "ipx", "hipo"};
  h.setOptionValue("solver", methods[s.method]);
  h.setOptionValue("hipo_system", s.augmented ? "augmented" : "choose");
  h.setOptionValue("run_crossover", s.crossover ? "on" : "off");
  h.setOptionValue("presolve", s.presolve ? "choose" : "off");
  h.setOptionValue("simplex_iteration_limit", HighsInt(s.iterations));
  // Its interior point methods need some tens of iterations, or go on for ever.
  h.setOptionValue("ipm_iteration_limit", std::min(HighsInt(s.iterations), HighsInt(500)));
  h.zeroAllClocks();
  h.setOptionValue("time_limit", seconds > 0 ? seconds : forever);
}

int iterations(const HighsInfo &info) {
  auto some = [](HighsInt n) { return std::max<HighsInt>(n, 0); };
  return some(info.simplex_iteration_count) + some(info.ipm_iteration_count) + some(info.crossover_iteration_count);
}

bool is_free(double lower, double upper) { return lower <= -1e30 && upper >= 1e30; }

// What HiGHS sees: free rows are empty there, and want 0 <= 1. Its interior point methods leave free rows out, and give the slacks of rows with two bounds the
// row numbers from before (1.15.0, fillInIpxData), beyond the end of the matrix.
std::vector<char> free_rows(const HighsLp &lp) {
  std::vector<char> free(lp.num_row_);
  for (HighsInt i = 0; i < lp.num_row_; i++) free[i] = is_free(lp.row_lower_[i], lp.row_upper_[i]);
  return free;
}

std::vector<double> upper_of(const HighsLp &lp, const std::vector<char> &free) {
  std::vector<double> upper = lp.row_upper_;
  for (HighsInt i = 0; i < lp.num_row_; i++)
    if (free[i]) upper[i] = 1;
  return upper;
}

void empty(HighsLp &lp, const std::vector<char> &free) {
  HighsSparseMatrix &a = lp.a_matrix_;
  HighsInt kept = 0, from = 0;
  for (HighsInt j = 0; j < lp.num_col_; j++) {
    const HighsInt end = a.start_[j + 1];
    for (HighsInt k = from; k < end; k++)
      if (!free[a.index_[k]]) {
        a.index_[kept] = a.index_[k];
        a.value_[kept++] = a.value_[k];
      }
    from = end;
    a.start_[j + 1] = kept;
  }
  a.index_.resize(kept);
  a.value_.resize(kept);
}

bool pass(conetune_highs &h) {
  HighsLp &own = h.model.lp_;
  own.a_matrix_.num_col_ = own.num_col_;
  own.a_matrix_.num_row_ = own.num_row_;
  h.quadratic = std::any_of(h.p_val.begin(), h.p_val.end(), [](double v) { return v != 0; });
  if (h.quadratic) h.model.hessian_.value_ = h.p_val;
  auto hand = [&](const HighsModel &model) {
    return (h.quadratic ? h.highs.passModel(model) : h.highs.passModel(model.lp_)) != HighsStatus::kError;
  };
  h.free = free_rows(own);
  if (std::none_of(h.free.begin(), h.free.end(), [](char f) { return f != 0; })) return hand(h.model);
  HighsModel seen = h.model;
  seen.lp_.row_upper_ = upper_of(own, h.free);
  empty(seen.lp_, h.free);
  return hand(seen);
}

// Rows that want Px = 0.
void add_flat(HighsLp &lp, const HighsHessian &p) {
  std::vector<std::vector<std::pair<HighsInt, double>>> more(lp.num_col_);
  for (HighsInt j = 0; j < lp.num_col_; j++)
    for (HighsInt k = p.start_[j]; k < p.start_[j + 1]; k++) {
      more[j].emplace_back(p.index_[k], p.value_[k]);
      if (p.index_[k] != j) more[p.index_[k]].emplace_back(j, p.value_[k]);
    }
  HighsSparseMatrix a;
  a.format_ = MatrixFormat::kColwise;
  a.num_col_ = lp.num_col_;
  a.num_row_ = lp.num_row_ + lp.num_col_;
  a.start_.assign(1, 0);
  for (HighsInt j = 0; j < lp.num_col_; j++) {
    for (HighsInt k = lp.a_matrix_.start_[j]; k < lp.a_matrix_.start_[j + 1]; k++) {
      a.index_.push_back(lp.a_matrix_.index_[k]);
      a.value_.push_back(lp.a_matrix_.value_[k]);
    }
    for (const auto &e : more[j]) {
      a.index_.push_back(lp.num_row_ + e.first);
      a.value_.push_back(e.second);
    }
    a.start_.push_back(HighsInt(a.index_.size()));
  }
  lp.a_matrix_ = a;
  lp.num_row_ = a.num_row_;
  lp.row_lower_.resize(a.num_row_, 0.0);
  lp.row_upper_.resize(a.num_row_, 0.0);
}

// The model as a linear program for a certificate: the simplex method without presolve, within the rest of the time.
void prepare(Highs &other, const conetune_highs_settings &s, double seconds) {
  quiet(other);
  conetune_highs_settings set = s;
  set.presolve = set.method = 0;
  limits(other, set, seconds);
}

// A certificate that the rows contradict each other, from the program without objective if need be.
bool dual_ray(conetune_highs &h, const conetune_highs_settings &s, double seconds, double *ray, conetune_highs_info &info) {
  bool has = false;
  if (!h.quadratic && h.highs.getDualRay(has, nullptr) == HighsStatus::kOk && has)
    return h.highs.getDualRay(has, ray) == HighsStatus::kOk && has;
  Highs other;
  prepare(other, s, seconds);
  HighsLp lp = h.model.lp_;
  lp.col_cost_.assign(lp.num_col_, 0.0);
  if (other.passModel(lp) == HighsStatus::kError || other.run() == HighsStatus::kError) return false;
  info.iterations += iterations(other.getInfo());
  return other.getModelStatus() == HighsModelStatus::kInfeasible && other.getDualRay(has, ray) == HighsStatus::kOk && has;
}

// A direction of the recession cone along which the objective falls for ever: the ray of the
// simplex method, else a vertex of those directions in a box.
bool primal_ray(conetune_highs &h, const conetune_highs_settings &s, double seconds, double *ray, conetune_highs_info &info) {
  bool has = false;
  if (!h.quadratic && h.highs.getPrimalRay(has, nullptr) == HighsStatus::kOk && has)
    return h.highs.getPrimalRay(has, ray) == HighsStatus::kOk && has;
  Highs other;
  prepare(other, s, seconds);
  HighsLp lp = h.model.lp_;
  double size = 0;
  for (double q : lp.col_cost_) size = std::max(size, std::abs(q));
  if (size == 0) return false;
  for (double &q : lp.col_cost_) q /= size;
  lp.col_lower_.assign(lp.num_col_, -1.0);
  lp.col_upper_.assign(lp.num_col_, 1.0);
  for (double &l : lp.row_lower_) l = l > -1e30 ? 0 : -kHighsInf;
  for (double &u : lp.row_upper_) u = u < 1e30 ? 0 : kHighsInf;
  if (h.quadratic) add_flat(lp, h.model.hessian_);
  if (other.passModel(lp) == HighsStatus::kError || other.run() == HighsStatus::kError) return false;
  info.iterations += iterations(other.getInfo());
  const HighsSolution &found = other.getSolution();
  if (other.getModelStatus() != HighsModelStatus::kOptimal || HighsInt(found.col_value.size()) != lp.num_col_) return false;
  double falls = 0;
  for (HighsInt j = 0; j < lp.num_col_; j++) {
    ray[j] = found.col_value[j];
    falls += lp.col_cost_[j] * ray[j];
  }
  return falls < 0;
}

void interrupt(int, const std::string &, const HighsCallbackOutput *, HighsCallbackInput *in, void *) {
  if (in && stopped()) in->user_interrupt = true;
}

}  // namespace

extern "C" {

// HiGHS reads this clock instead of the system's, by a renaming of cgo/build-highs.sh: all its loops look at
// the time, not all of them for an interruption.
std::chrono::system_clock::time_point conetune_highs_now() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  const std::chrono::system_clock::time_point now(std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec));
  return stopped() ? now + std::chrono::hours(24 * 365 * 40) : now;
}

// What is left of its printing is renamed to these.
int conetune_highs_printf(const char *, ...) { return 0; }
int conetune_highs_puts(const char *) { return 0; }
int conetune_highs_putchar(int c) { return c; }

// Where its orderings would end the program, and what is called of the parts that are not compiled.
[[noreturn]] void conetune_highs_abort() { throw std::runtime_error("out of memory"); }
[[noreturn]] void conetune_highs_absent() { throw std::logic_error("a part of HiGHS that is not in this library"); }

const char *conetune_highs_version(void) { return "1.15.0"; }  // as in cgo/crates/highs; the function of HiGHS makes a text anew

int conetune_highs_new(const conetune_highs_problem *p, conetune_highs **out, char *text, size_t size) {
  return guarded(
      [&]() -> int {
        auto *h = new conetune_highs;
        *out = h;
        quiet(h->highs);
        HighsLp &lp = h->model.lp_;
        lp.num_col_ = p->n;
        lp.num_row_ = p->m;
        lp.col_cost_.assign(p->q, p->q + p->n);
        lp.col_lower_.assign(p->n, -kHighsInf);
        lp.col_upper_.assign(p->n, kHighsInf);
        lp.row_lower_.assign(p->lower, p->lower + p->m);
        lp.row_upper_.assign(p->upper, p->upper + p->m);
        lp.a_matrix_.format_ = MatrixFormat::kColwise;
        lp.a_matrix_.start_.assign(p->a_ptr, p->a_ptr + p->n + 1);
        lp.a_matrix_.index_.assign(p->a_ind, p->a_ind + p->a_ptr[p->n]);
        lp.a_matrix_.value_.assign(p->a_val, p->a_val + p->a_ptr[p->n]);
        if (p->p_ptr) {
          HighsHessian &hessian = h->model.hessian_;
          hessian.dim_ = p->n;
          hessian.format_ = HessianFormat::kTriangular;
          hessian.start_.assign(p->p_ptr, p->p_ptr + p->n + 1);
          hessian.index_.assign(p->p_ind, p->p_ind + p->p_ptr[p->n]);
          h->p_val.assign(p->p_val, p->p_val + p->p_ptr[p->n]);
        }
        if (!pass(*h)) {
          tell("numbers out of its range", text, size);
          return CONETUNE_HIGHS_REFUSED;
        }
        return CONETUNE_HIGHS_OK;
      },
      text, size);
}

int conetune_highs_update(conetune_highs *h, const double *p_val, const double *q, const double *a_val, const double *lower,
                          const double *upper) {
  return guarded([&]() -> int {
    HighsLp &lp = h->model.lp_;
    auto copy = [](std::vector<double> &to, const double *from) {
      if (from) to.assign(from, from + to.size());
    };
    copy(lp.col_cost_, q);
    copy(lp.row_lower_, lower);
    copy(lp.row_upper_, upper);
    copy(lp.a_matrix_.value_, a_val);
    copy(h->p_val, p_val);
    if (a_val || p_val || free_rows(lp) != h->free) {
      const HighsBasis basis = h->highs.getBasis();
      if (!pass(*h)) return CONETUNE_HIGHS_REFUSED;
      if (basis.valid) h->highs.setBasis(basis);
      return CONETUNE_HIGHS_OK;
    }
    bool fine = true;
    if (q && lp.num_col_ > 0) fine = h->highs.changeColsCost(0, lp.num_col_ - 1, q) != HighsStatus::kError;
    if (lower && upper && lp.num_row_ > 0)
      fine = h->highs.changeRowsBounds(0, lp.num_row_ - 1, lp.row_lower_.data(), upper_of(lp, h->free).data()) != HighsStatus::kError && fine;
    return fine ? CONETUNE_HIGHS_OK : CONETUNE_HIGHS_REFUSED;
  });
}

int conetune_highs_forget(conetune_highs *h) {
  return guarded([&]() -> int { return h->highs.clearSolver() == HighsStatus::kError ? CONETUNE_HIGHS_REFUSED : CONETUNE_HIGHS_OK; });
}

int conetune_highs_start(conetune_highs *h, const int32_t *cols, const int32_t *rows) {
  return guarded([&]() -> int {
    const HighsLp &lp = h->model.lp_;
    HighsBasis basis;
    basis.valid = true;
    HighsInt basic = 0;
    auto add = [&](std::vector<HighsBasisStatus> &to, int32_t status) {
      to.push_back(HighsBasisStatus(status));
      if (to.back() == HighsBasisStatus::kBasic) basic++;
    };
    for (HighsInt j = 0; j < lp.num_col_; j++) add(basis.col_status, cols[j]);
    for (HighsInt i = 0; i < lp.num_row_; i++) add(basis.row_status, rows[i]);
    if (lp.num_row_ == 0) return CONETUNE_HIGHS_REFUSED;
    basis.alien = basic != lp.num_row_;  // then HiGHS makes it a basis
    return h->highs.setBasis(basis) == HighsStatus::kError ? CONETUNE_HIGHS_REFUSED : CONETUNE_HIGHS_OK;
  });
}

int conetune_highs_solve(conetune_highs *h, const conetune_highs_settings *s, const int32_t *stop, double seconds, double *x,
                         double *y, double *ray, int32_t *cols, int32_t *rows, conetune_highs_info *info, char *text,
                         size_t size) {
  const int code = guarded(
      [&]() -> int {
        *info = conetune_highs_info{};
        if (h->broken) return CONETUNE_HIGHS_REFUSED;
        stop_flag = stop;
        limits(h->highs, *s, seconds);
        h->highs.setCallback(interrupt, nullptr);
        h->highs.startCallback(kCallbackSimplexInterrupt);
        h->highs.startCallback(kCallbackIpmInterrupt);
        h->highs.run();
        HighsModelStatus status = h->highs.getModelStatus();
        info->iterations = iterations(h->highs.getInfo());
        info->status = int32_t(status);
        const HighsSolution &found = h->highs.getSolution();
        const HighsLp &lp = h->model.lp_;
        if (found.value_valid && found.dual_valid && HighsInt(found.col_value.size()) == lp.num_col_ &&
            HighsInt(found.row_dual.size()) == lp.num_row_) {
          info->has_point = 1;
          std::copy(found.col_value.begin(), found.col_value.end(), x);
          std::copy(found.row_dual.begin(), found.row_dual.end(), y);
        }
        const HighsBasis &basis = h->highs.getBasis();
        if (basis.valid && HighsInt(basis.col_status.size()) == lp.num_col_ && HighsInt(basis.row_status.size()) == lp.num_row_) {
          info->has_basis = 1;
          for (HighsInt j = 0; j < lp.num_col_; j++) cols[j] = int32_t(basis.col_status[j]);
          for (HighsInt i = 0; i < lp.num_row_; i++) rows[i] = int32_t(basis.row_status[i]);
        }
        if (h->quadratic) return CONETUNE_HIGHS_OK;  // conetune_highs_prove is there
        if (status == HighsModelStatus::kInfeasible || status == HighsModelStatus::kUnboundedOrInfeasible)
          info->dual_ray = dual_ray(*h, *s, seconds, ray, *info);
        if (status == HighsModelStatus::kUnbounded || (status == HighsModelStatus::kUnboundedOrInfeasible && !info->dual_ray))
          info->primal_ray = primal_ray(*h, *s, seconds, ray, *info);
        return CONETUNE_HIGHS_OK;
      },
      text, size);
  stop_flag = nullptr;
  if (code == CONETUNE_HIGHS_BROKEN) h->broken = true;
  return code;
}

int conetune_highs_prove(conetune_highs *h, const conetune_highs_settings *s, int32_t infeasible, const int32_t *stop, double seconds,
                         double *ray, conetune_highs_info *info, char *text, size_t size) {
  const int code = guarded(
      [&]() -> int {
        *info = conetune_highs_info{};
        if (h->broken) return CONETUNE_HIGHS_REFUSED;
        stop_flag = stop;
        if (infeasible)
          info->dual_ray = dual_ray(*h, *s, seconds, ray, *info);
        else
          info->primal_ray = primal_ray(*h, *s, seconds, ray, *info);
        return CONETUNE_HIGHS_OK;
      },
      text, size);
  stop_flag = nullptr;
  if (code == CONETUNE_HIGHS_BROKEN) h->broken = true;
  return code;
}

void conetune_highs_free(conetune_highs *h) {
  guarded([&]() -> int {
    delete h;
    return 0;
  });
}

}  // extern "C"
