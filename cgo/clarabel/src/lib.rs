//! A C interface to Clarabel, which conetune_clarabel.h describes. No panic crosses it, nothing is
//! printed, and a solve looks at a flag of its caller and at the clock in every iteration.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SupportedConeT};
use std::any::Any;
use std::ffi::c_char;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::slice::from_raw_parts;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

const OK: i32 = 0;
const REFUSED: i32 = 1;
const BROKEN: i32 = 2;

/// A problem that has been set up.
pub struct Handle {
    solver: DefaultSolver<f64>,
    m: usize,
    n: usize,
    nnz_p: usize,
    nnz_a: usize,
    broken: bool,
}

#[repr(C)]
pub struct Problem {
    m: usize,
    n: usize,
    p_ptr: *const usize,
    p_ind: *const usize,
    p_val: *const f64,
    a_ptr: *const usize,
    a_ind: *const usize,
    a_val: *const f64,
    q: *const f64,
    b: *const f64,
    cones: usize,
    kinds: *const i32,
    dims: *const usize,
    extras: *const usize,
    weights: *const f64,
}

#[repr(C)]
pub struct Settings {
    max_step_fraction: f64,
    tol_gap_abs: f64,
    tol_gap_rel: f64,
    tol_feas: f64,
    tol_infeas_abs: f64,
    tol_infeas_rel: f64,
    tol_ktratio: f64,
    reduced_tol_gap_abs: f64,
    reduced_tol_gap_rel: f64,
    reduced_tol_feas: f64,
    reduced_tol_infeas_abs: f64,
    reduced_tol_infeas_rel: f64,
    reduced_tol_ktratio: f64,
    equilibrate_min_scaling: f64,
    equilibrate_max_scaling: f64,
    linesearch_backtrack_step: f64,
    min_switch_step_length: f64,
    min_terminate_step_length: f64,
    static_regularization_constant: f64,
    static_regularization_proportional: f64,
    dynamic_regularization_eps: f64,
    dynamic_regularization_delta: f64,
    iterative_refinement_reltol: f64,
    iterative_refinement_abstol: f64,
    iterative_refinement_stop_ratio: f64,
    max_iter: u32,
    max_threads: u32,
    equilibrate_max_iter: u32,
    iterative_refinement_max_iter: u32,
    linear_solver: i32,
    merge: i32,
    equilibrate: i32,
    static_regularization: i32,
    dynamic_regularization: i32,
    iterative_refinement: i32,
    presolve: i32,
    chordal: i32,
    chordal_compact: i32,
    chordal_complete_dual: i32,
}

#[repr(C)]
pub struct Info {
    status: i32,
    stopped: i32,
    iterations: u32,
    primal: f64,
    dual: f64,
    gap_abs: f64,
    gap_rel: f64,
    res_primal: f64,
    res_dual: f64,
    mu: f64,
    kt_ratio: f64,
}

const LINEAR_SOLVERS: [&str; 3] = ["auto", "qdldl", "faer"];
const MERGES: [&str; 3] = ["clique_graph", "parent_child", "none"];

impl Settings {
    fn from_clarabel(d: &DefaultSettings<f64>) -> Settings {
        let place = |names: &[&str], name: &str| names.iter().position(|n| *n == name).unwrap_or(0) as i32;
        Settings {
            max_step_fraction: d.max_step_fraction,
            tol_gap_abs: d.tol_gap_abs,
            tol_gap_rel: d.tol_gap_rel,
            tol_feas: d.tol_feas,
            tol_infeas_abs: d.tol_infeas_abs,
            tol_infeas_rel: d.tol_infeas_rel,
            tol_ktratio: d.tol_ktratio,
            reduced_tol_gap_abs: d.reduced_tol_gap_abs,
            reduced_tol_gap_rel: d.reduced_tol_gap_rel,
            reduced_tol_feas: d.reduced_tol_feas,
            reduced_tol_infeas_abs: d.reduced_tol_infeas_abs,
            reduced_tol_infeas_rel: d.reduced_tol_infeas_rel,
            reduced_tol_ktratio: d.reduced_tol_ktratio,
            equilibrate_min_scaling: d.equilibrate_min_scaling,
            equilibrate_max_scaling: d.equilibrate_max_scaling,
            linesearch_backtrack_step: d.linesearch_backtrack_step,
            min_switch_step_length: d.min_switch_step_length,
            min_terminate_step_length: d.min_terminate_step_length,
            static_regularization_constant: d.static_regularization_constant,
            static_regularization_proportional: d.static_regularization_proportional,
            dynamic_regularization_eps: d.dynamic_regularization_eps,
            dynamic_regularization_delta: d.dynamic_regularization_delta,
            iterative_refinement_reltol: d.iterative_refinement_reltol,
            iterative_refinement_abstol: d.iterative_refinement_abstol,
            iterative_refinement_stop_ratio: d.iterative_refinement_stop_ratio,
            max_iter: d.max_iter,
            max_threads: d.max_threads,
            equilibrate_max_iter: d.equilibrate_max_iter,
            iterative_refinement_max_iter: d.iterative_refinement_max_iter,
            linear_solver: place(&LINEAR_SOLVERS, &d.direct_solve_method),
            merge: place(&MERGES, &d.chordal_decomposition_merge_method),
            equilibrate: d.equilibrate_enable as i32,
            static_regularization: d.static_regularization_enable as i32,
            dynamic_regularization: d.dynamic_regularization_enable as i32,
            iterative_refinement: d.iterative_refinement_enable as i32,
            presolve: d.presolve_enable as i32,
            chordal: d.chordal_decomposition_enable as i32,
            chordal_compact: d.chordal_decomposition_compact as i32,
            chordal_complete_dual: d.chordal_decomposition_complete_dual as i32,
        }
    }

    fn to_clarabel(&self) -> DefaultSettings<f64> {
        let name = |names: &[&str], i: i32| names.get(i as usize).unwrap_or(&"").to_string();
        DefaultSettings {
            verbose: false,
            max_step_fraction: self.max_step_fraction,
            tol_gap_abs: self.tol_gap_abs,
            tol_gap_rel: self.tol_gap_rel,
            tol_feas: self.tol_feas,
            tol_infeas_abs: self.tol_infeas_abs,
            tol_infeas_rel: self.tol_infeas_rel,
            tol_ktratio: self.tol_ktratio,
            reduced_tol_gap_abs: self.reduced_tol_gap_abs,
            reduced_tol_gap_rel: self.reduced_tol_gap_rel,
            reduced_tol_feas: self.reduced_tol_feas,
            reduced_tol_infeas_abs: self.reduced_tol_infeas_abs,
            reduced_tol_infeas_rel: self.reduced_tol_infeas_rel,
            reduced_tol_ktratio: self.reduced_tol_ktratio,
            equilibrate_min_scaling: self.equilibrate_min_scaling,
            equilibrate_max_scaling: self.equilibrate_max_scaling,
            linesearch_backtrack_step: self.linesearch_backtrack_step,
            min_switch_step_length: self.min_switch_step_length,
            min_terminate_step_length: self.min_terminate_step_length,
            static_regularization_constant: self.static_regularization_constant,
            static_regularization_proportional: self.static_regularization_proportional,
            dynamic_regularization_eps: self.dynamic_regularization_eps,
            dynamic_regularization_delta: self.dynamic_regularization_delta,
            iterative_refinement_reltol: self.iterative_refinement_reltol,
            iterative_refinement_abstol: self.iterative_refinement_abstol,
            iterative_refinement_stop_ratio: self.iterative_refinement_stop_ratio,
            max_iter: self.max_iter,
            max_threads: self.max_threads,
            equilibrate_max_iter: self.equilibrate_max_iter,
            iterative_refinement_max_iter: self.iterative_refinement_max_iter,
            direct_solve_method: name(&LINEAR_SOLVERS, self.linear_solver),
            chordal_decomposition_merge_method: name(&MERGES, self.merge),
            equilibrate_enable: self.equilibrate != 0,
            static_regularization_enable: self.static_regularization != 0,
            dynamic_regularization_enable: self.dynamic_regularization != 0,
            iterative_refinement_enable: self.iterative_refinement != 0,
            presolve_enable: self.presolve != 0,
            chordal_decomposition_enable: self.chordal != 0,
            chordal_decomposition_compact: self.chordal_compact != 0,
            chordal_decomposition_complete_dual: self.chordal_complete_dual != 0,
            ..DefaultSettings::default()
        }
    }
}

/// Runs f, whose panic is a text. A panic prints nothing: the hook is that of this library alone,
/// whose symbols no other code sees.
fn guarded<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static SILENT: Once = Once::new();
    SILENT.call_once(|| std::panic::set_hook(Box::new(|_| {})));
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload: Box<dyn Any + Send>| {
        let text = payload.downcast_ref::<&str>().map(|s| s.to_string());
        text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "panic".to_string())
    })
}

/// The numbers at p, which may be null if there are none.
unsafe fn numbers<'a, T>(p: *const T, len: usize) -> &'a [T] {
    if len == 0 {
        return &[];
    }
    from_raw_parts(p, len)
}

/// Writes a text and a final zero into size bytes.
unsafe fn tell(text: &str, to: *mut c_char, size: usize) {
    if to.is_null() || size == 0 {
        return;
    }
    let bytes = text.as_bytes();
    let len = bytes.len().min(size - 1);
    std::ptr::copy_nonoverlapping(bytes.as_ptr() as *const c_char, to, len);
    *to.add(len) = 0;
}

unsafe fn matrix(m: usize, n: usize, ptr: *const usize, ind: *const usize, val: *const f64) -> CscMatrix<f64> {
    let ptr = from_raw_parts(ptr, n + 1);
    let nnz = ptr[n];
    CscMatrix::new(m, n, ptr.to_vec(), numbers(ind, nnz).to_vec(), numbers(val, nnz).to_vec())
}

unsafe fn cones(p: &Problem) -> Option<Vec<SupportedConeT<f64>>> {
    let (kinds, dims, extras) = (numbers(p.kinds, p.cones), numbers(p.dims, p.cones), numbers(p.extras, p.cones));
    let mut at = p.weights;
    let mut weights = |count: usize| {
        let w = numbers(at, count).to_vec();
        at = at.add(count);
        w
    };
    let mut out = Vec::with_capacity(p.cones);
    for i in 0..p.cones {
        out.push(match kinds[i] {
            0 => SupportedConeT::ZeroConeT(dims[i]),
            1 => SupportedConeT::NonnegativeConeT(dims[i]),
            2 => SupportedConeT::SecondOrderConeT(dims[i]),
            3 => SupportedConeT::ExponentialConeT(),
            4 => SupportedConeT::PowerConeT(weights(1)[0]),
            5 => SupportedConeT::GenPowerConeT(weights(dims[i]), extras[i]),
            6 => SupportedConeT::PSDTriangleConeT(dims[i]),
            _ => return None,
        });
    }
    Some(out)
}

#[no_mangle]
pub extern "C" fn conetune_clarabel_version() -> *const c_char {
    c"0.11.1".as_ptr() // as in Cargo.toml: the crate does not tell
}

#[no_mangle]
pub unsafe extern "C" fn conetune_clarabel_defaults(out: *mut Settings) {
    *out = Settings::from_clarabel(&DefaultSettings::default());
}

#[no_mangle]
pub unsafe extern "C" fn conetune_clarabel_new(
    problem: *const Problem,
    settings: *const Settings,
    out: *mut *mut Handle,
    text: *mut c_char,
    size: usize,
) -> i32 {
    let made = guarded(|| {
        let p = &*problem;
        let cones = cones(p).ok_or("unknown cone".to_string())?;
        let a = matrix(p.m, p.n, p.a_ptr, p.a_ind, p.a_val);
        let upper = matrix(p.n, p.n, p.p_ptr, p.p_ind, p.p_val);
        let (nnz_p, nnz_a) = (upper.nnz(), a.nnz());
        let solver = DefaultSolver::new(&upper, numbers(p.q, p.n), &a, numbers(p.b, p.m), &cones, (*settings).to_clarabel())
            .map_err(|e| e.to_string())?;
        Ok::<Handle, String>(Handle { solver, m: p.m, n: p.n, nnz_p, nnz_a, broken: false })
    });
    match made {
        Ok(Ok(handle)) => {
            *out = Box::into_raw(Box::new(handle));
            OK
        }
        Ok(Err(why)) => {
            tell(&why, text, size);
            REFUSED
        }
        Err(why) => {
            tell(&why, text, size);
            BROKEN
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn conetune_clarabel_updatable(handle: *const Handle) -> i32 {
    let h = &*handle;
    (!h.broken && h.solver.is_data_update_allowed()) as i32
}

#[no_mangle]
pub unsafe extern "C" fn conetune_clarabel_update(
    handle: *mut Handle,
    p_val: *const f64,
    q: *const f64,
    a_val: *const f64,
    b: *const f64,
) -> i32 {
    let h = &mut *handle;
    if h.broken || !h.solver.is_data_update_allowed() {
        return REFUSED;
    }
    let given = |p: *const f64, len: usize| if p.is_null() { Vec::new() } else { numbers(p, len).to_vec() };
    let done = guarded(|| {
        let (p_val, q, a_val, mut b) = (given(p_val, h.nnz_p), given(q, h.n), given(a_val, h.nnz_a), given(b, h.m));
        let infinity = clarabel::get_infinity(); // as the set-up does
        b.iter_mut().for_each(|v| *v = v.min(infinity));
        let s = &mut h.solver;
        if !p_val.is_empty() {
            s.update_P(&p_val)?;
        }
        s.update_q(&q)?;
        if !a_val.is_empty() {
            s.update_A(&a_val)?;
        }
        s.update_b(&b)
    });
    match done {
        Ok(Ok(())) => OK,
        _ => {
            h.broken = true; // a part of it may be there
            BROKEN
        }
    }
}

#[no_mangle]
pub unsafe extern "C" fn conetune_clarabel_set(handle: *mut Handle, settings: *const Settings) -> i32 {
    let h = &mut *handle;
    match guarded(|| h.solver.update_settings((*settings).to_clarabel())) {
        Ok(Ok(())) => OK,
        _ => REFUSED,
    }
}

#[no_mangle]
pub unsafe extern "C" fn conetune_clarabel_solve(
    handle: *mut Handle,
    stop: *const i32,
    seconds: f64,
    x: *mut f64,
    s: *mut f64,
    z: *mut f64,
    info: *mut Info,
    text: *mut c_char,
    size: usize,
) -> i32 {
    let h = &mut *handle;
    if h.broken {
        return REFUSED;
    }
    let stopped = Arc::new(AtomicI32::new(0));
    let (flag, note) = (stop as usize, stopped.clone());
    let deadline = (seconds > 0.0).then(|| Instant::now() + Duration::from_secs_f64(seconds.min(1e9)));
    let done = guarded(|| {
        // The flag is there until this function returns, and the callback goes before that.
        h.solver.set_termination_callback(move |_| {
            if flag != 0 && (*(flag as *const AtomicI32)).load(Ordering::Relaxed) != 0 {
                note.store(1, Ordering::Relaxed);
            } else if deadline.is_some_and(|d| Instant::now() >= d) {
                note.store(2, Ordering::Relaxed);
            }
            note.load(Ordering::Relaxed) != 0
        });
        h.solver.solve();
    });
    h.solver.unset_termination_callback();
    if let Err(why) = done {
        h.broken = true;
        tell(&why, text, size);
        return BROKEN;
    }
    let (found, at) = (&h.solver.solution, &h.solver.info);
    let copy = |from: &[f64], to: *mut f64| std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len());
    copy(&found.x, x);
    copy(&found.s, s);
    copy(&found.z, z);
    *info = Info {
        status: found.status as i32,
        stopped: stopped.load(Ordering::Relaxed),
        iterations: found.iterations,
        primal: at.cost_primal,
        dual: at.cost_dual,
        gap_abs: at.gap_abs,
        gap_rel: at.gap_rel,
        res_primal: at.res_primal,
        res_dual: at.res_dual,
        mu: at.mu,
        kt_ratio: at.ktratio,
    };
    OK
}

#[no_mangle]
pub unsafe extern "C" fn conetune_clarabel_free(handle: *mut Handle) {
    if !handle.is_null() {
        let _ = guarded(|| drop(Box::from_raw(handle)));
    }
}
