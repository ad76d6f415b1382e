//! PTX compiled by the driver.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cust::sys;
use foldhash::fast::RandomState;
use simt::KernelInfo;

use super::declared::Declared;
use super::driver::{self, Failure, codes};
use super::module_variable;
use super::primary::Primary;
use crate::error::{BadLaunch, Error, LaunchRule, PtxError, Result};

/// The function that compiles PTX.
const LOAD: &str = "cuModuleLoadDataEx";
/// Size of each of the compiler's two logs, in bytes.
const LOG_BYTES: usize = 16 * 1024;
/// Dynamic shared memory of a launch without a function attribute, in bytes.
const SHARED_BYTES: usize = 48 * 1024;

/// A loaded module.
pub(crate) struct Module {
    raw: sys::CUmodule,
    name: String,
    /// What the text says of its kernels.
    declared: Declared,
    functions: Mutex<HashMap<&'static str, Function, RandomState>>,
    primary: Arc<Primary>,
}

// SAFETY: the driver's handles may be used from any thread with the context current; the map has a lock.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// An entry of a module.
#[derive(Clone, Copy)]
pub(super) struct Function {
    /// The kernel that it was compared with.
    info: &'static KernelInfo,
    pub(super) raw: sys::CUfunction,
    /// Maximum threads of a block, which the registers limit.
    pub(super) max_threads: u32,
    /// Maximum dynamic shared memory of a launch by the current function attribute, in bytes.
    shared_bytes: usize,
}

// SAFETY: the driver's handle may be used from any thread with the context current.
unsafe impl Send for Function {}

impl Function {
    /// Whether it may be launched with so much dynamic shared memory, in bytes.
    pub(super) fn allows(&self, shared_bytes: usize) -> bool {
        shared_bytes <= self.shared_bytes
    }
}

impl Module {
    /// Lets the driver compile `text` for the device.
    pub(super) fn load(primary: &Arc<Primary>, name: &str, text: &str) -> Result<Self> {
        let mut log = Log::new();
        let doing = format!("compiling the PTX module `{name}`");
        let declared = Declared::read(text);
        let [report, printed] =
            [simt::report::VARIABLE, simt::report::print::VARIABLE].map(|part| module_variable::find(text, part));
        let lines = has_lines(text);
        // A zero byte would end the text early.
        let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
        let loaded = primary.call(&doing, || {
            let mut module = ptr::null_mut();
            let (mut options, mut values) = log.options(lines);
            // SAFETY: `text` ends with a zero; options and values have the same length, and their buffers outlive the
            // call.
            driver::check(LOAD, unsafe {
                sys::cuModuleLoadDataEx(
                    &raw mut module,
                    text.as_ptr().cast(),
                    options.len() as u32,
                    options.as_mut_ptr(),
                    values.as_mut_ptr(),
                )
            })?;
            Ok(module)
        });
        match loaded {
            Ok(raw) => {
                let (name, primary) = (name.to_owned(), Arc::clone(primary));
                let module = Self { raw, name, declared, functions: Mutex::default(), primary };
                if let Some(variable) = report {
                    let doing = format_args!("preparing the reports of panics of the PTX module `{}`", module.name);
                    module.primary.call(doing, || module.primary.panic_report().connect(raw, &variable))?;
                }
                if let Some(variable) = printed {
                    let doing = format_args!("preparing the output of the PTX module `{}`", module.name);
                    module.primary.call(doing, || module.primary.lines().connect(raw, &variable))?;
                }
                Ok(module)
            }
            // Other failures say nothing about the PTX.
            Err(Error::Driver(cause)) if cause.call == LOAD && cause.code != codes::OUT_OF_MEMORY => {
                Err(Error::Ptx(Box::new(PtxError {
                    module: name.to_owned(),
                    remedy: remedy(cause.code).to_owned(),
                    cause: *cause,
                    log: log.text(),
                })))
            }
            Err(other) => Err(other),
        }
    }

    /// The entry of the kernel `info`, with its attribute set for `shared_bytes` of dynamic shared memory. The first
    /// time it is compared with what the PTX declares.
    pub(super) fn function(&self, info: &'static KernelInfo, shared_bytes: usize) -> Result<Function> {
        let name = info.name;
        let mut functions = self.functions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = functions.get_mut(name).filter(|known| ptr::eq(known.info, info) || known.info == info);
        let mut function = match known {
            Some(function) => {
                // A kernel may have several equal descriptions. The last one is the likeliest next one, and addresses
                // are quicker to compare.
                function.info = info;
                if function.allows(shared_bytes) {
                    return Ok(*function);
                }
                *function
            }
            None => self.find(info)?,
        };
        if !function.allows(shared_bytes) {
            let doing = format!("allowing kernel `{name}` {shared_bytes} bytes of shared memory");
            let bytes = i32::try_from(shared_bytes).unwrap_or(i32::MAX);
            self.primary.call(doing, || {
                let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                // SAFETY: the function belongs to this module, which is loaded.
                driver::check("cuFuncSetAttribute", unsafe { sys::cuFuncSetAttribute(function.raw, attribute, bytes) })
            })?;
            function.shared_bytes = shared_bytes;
        }
        functions.insert(name, function);
        Ok(function)
    }

    fn find(&self, info: &'static KernelInfo) -> Result<Function> {
        let name = info.name;
        let symbol = CString::new(name).unwrap_or_default();
        let found = self.primary.call(format_args!("looking for kernel `{name}`"), || {
            let mut raw = ptr::null_mut();
            // SAFETY: the module is loaded; the name ends with a zero.
            match driver::check("cuModuleGetFunction", unsafe {
                sys::cuModuleGetFunction(&raw mut raw, self.raw, symbol.as_ptr())
            }) {
                Ok(()) => Ok(Some(raw)),
                Err(Failure { code: codes::NOT_FOUND, .. }) => Ok(None),
                Err(failure) => Err(failure),
            }
        })?;
        let Some(raw) = found else {
            return Err(BadLaunch::new(
                LaunchRule::Module,
                name,
                format_args!("an entry of this name in the PTX module `{}`", self.name),
                "none",
                "rebuild the PTX from the kernel's current source, for the crate `gpu` with `cargo xtask build`",
            )
            .into());
        };
        self.declared.check(info, &self.name)?;
        let max_threads = self.primary.call(format_args!("reading the limits of kernel `{name}`"), || {
            let mut threads = 0;
            let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
            // SAFETY: `threads` is writable, and the function belongs to this module, which is loaded.
            driver::check("cuFuncGetAttribute", unsafe { sys::cuFuncGetAttribute(&raw mut threads, attribute, raw) })?;
            Ok(u32::try_from(threads).unwrap_or(0))
        })?;
        Ok(Function { info, raw, max_threads, shared_bytes: SHARED_BYTES })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // Kernels of this module may still run.
        let Some(_entered) = self.primary.enter_to_clean_up() else { return };
        if self.primary.synchronize().is_ok() {
            // SAFETY: unloaded once, here, with no kernel running. There is no handling of a failure.
            let _ = unsafe { sys::cuModuleUnload(self.raw) };
        }
    }
}

/// The remedy for PTX that the driver rejected.
fn remedy(code: i32) -> &'static str {
    match code {
        codes::UNSUPPORTED_PTX_VERSION => {
            "the PTX is newer than the driver: update the NVIDIA driver, or build the PTX for an older version"
        }
        codes::NO_BINARY_FOR_GPU | codes::INVALID_PTX => {
            "the PTX is for another GPU, or invalid: compare its `.target` with the device's compute capability, and \
             compile it for that"
        }
        _ => "rebuild the PTX with `cargo xtask build`; if that does not help, report the driver's message",
    }
}

/// Whether PTX names lines of its source.
fn has_lines(text: &str) -> bool {
    text.lines().any(|line| line.trim_start().starts_with(".loc\t"))
}

/// The buffers for the logs of the driver's PTX compiler.
struct Log {
    error: Vec<u8>,
    info: Vec<u8>,
}

impl Log {
    fn new() -> Self {
        Self { error: vec![0; LOG_BYTES], info: vec![0; LOG_BYTES] }
    }

    /// The options with the addresses of the buffers, and whether the machine code names the lines that the PTX names:
    /// without that option it has none. Numbers are passed in place of addresses.
    fn options(&mut self, lines: bool) -> ([sys::CUjit_option; 5], [*mut c_void; 5]) {
        use sys::CUjit_option::{
            CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_GENERATE_LINE_INFO,
            CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
        };
        let size = ptr::without_provenance_mut(LOG_BYTES);
        (
            [
                CU_JIT_ERROR_LOG_BUFFER,
                CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                CU_JIT_INFO_LOG_BUFFER,
                CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                CU_JIT_GENERATE_LINE_INFO,
            ],
            [
                self.error.as_mut_ptr().cast(),
                size,
                self.info.as_mut_ptr().cast(),
                size,
                ptr::without_provenance_mut(usize::from(lines)),
            ],
        )
    }

    /// The error log, or the info log if that is empty.
    fn text(&self) -> String {
        let written = |log: &[u8]| {
            let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
            String::from_utf8_lossy(&log[..end]).trim().to_owned()
        };
        let (error, info) = (written(&self.error), written(&self.info));
        if error.is_empty() { info } else { error }
    }
}

#[cfg(test)]
mod tests {
    use super::{Log, has_lines};

    #[test]
    fn the_driver_is_asked_for_lines_where_the_ptx_has_them() {
        for (text, expected) in [("\t.local .b8 a;\n", 0), ("{\n\t.loc\t4 11 0\n}", 1)] {
            let (options, values) = Log::new().options(has_lines(text));
            // CU_JIT_GENERATE_LINE_INFO
            let at = options.iter().position(|option| *option as i32 == 13).unwrap();
            assert_eq!(values[at].addr(), expected, "{text}");
        }
    }
}
