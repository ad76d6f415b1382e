//! NVML: clocks, power, temperature and driver version of the GPU that is measured.
//!
//! `nvml.h`. Only questions are asked; nothing is set.

use std::ffi::{CString, c_char, c_void};
use std::ptr;

use super::Missing;
use super::library::{Search, functions};

type Handle = *mut c_void;

functions! {
    /// Each status is an `nvmlReturn_t`.
    Functions {
        fn init = "nvmlInit_v2"() -> i32;
        fn shutdown = "nvmlShutdown"() -> i32;
        fn driver_version = "nvmlSystemGetDriverVersion"(*mut c_char, u32) -> i32;
        fn device = "nvmlDeviceGetHandleByPciBusId_v2"(*const c_char, *mut Handle) -> i32;
        fn clock = "nvmlDeviceGetClockInfo"(Handle, i32, *mut u32) -> i32;
        fn power = "nvmlDeviceGetPowerUsage"(Handle, *mut u32) -> i32;
        fn power_limit = "nvmlDeviceGetEnforcedPowerLimit"(Handle, *mut u32) -> i32;
        fn temperature = "nvmlDeviceGetTemperature"(Handle, i32, *mut u32) -> i32;
    }
}

const SEARCH: Search<'_> = Search {
    name: "NVML",
    variable: "WARPWRIGHT_NVML",
    files: &["libnvidia-ml.so.1"],
    remedy: "it comes with the NVIDIA driver",
};

// nvmlClockType_t and nvmlTemperatureSensors_t.
const CLOCK_SM: i32 = 1;
const CLOCK_MEMORY: i32 = 2;
const TEMPERATURE_GPU: i32 = 0;

/// One reading of a GPU; `None` where it does not report a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Reading {
    /// Clock of the SMs in MHz.
    pub sm_mhz: Option<u32>,
    /// Clock of the memory in MHz.
    pub memory_mhz: Option<u32>,
    /// Power in watts, averaged by the GPU over about a second.
    pub power_w: Option<f64>,
    /// Temperature in °C.
    pub temperature_c: Option<u32>,
}

/// NVML, asked about one GPU.
pub struct Nvml {
    functions: Functions,
    device: Handle,
}

impl Nvml {
    /// NVML for the GPU at a PCI address.
    ///
    /// # Errors
    /// NVML is not there, or does not know the GPU.
    pub fn open(pci_bus_id: &str) -> Result<Self, Missing> {
        let functions = Functions::find(&SEARCH)?;
        // SAFETY: no precondition.
        let started = unsafe { (functions.init)() };
        if started != 0 {
            return Err(SEARCH.missing(vec![format!("nvmlInit_v2 returned status {started}")]));
        }
        let mut nvml = Self { functions, device: ptr::null_mut() };
        let address = CString::new(pci_bus_id).unwrap_or_default();
        // SAFETY: a text that ends with a zero, and a place for a handle.
        let found = unsafe { (nvml.functions.device)(address.as_ptr(), &raw mut nvml.device) };
        if found == 0 {
            return Ok(nvml);
        }
        Err(SEARCH.missing(vec![format!("no GPU at {pci_bus_id}: status {found}")]))
    }

    /// The driver's version, as `580.159.04`.
    pub fn driver_version(&self) -> Option<String> {
        let mut text = [0_u8; 80];
        // SAFETY: the buffer has the length that is passed.
        let status = unsafe { (self.functions.driver_version)(text.as_mut_ptr().cast(), text.len() as u32) };
        let end = text.iter().position(|&byte| byte == 0)?;
        (status == 0).then(|| String::from_utf8_lossy(&text[..end]).into_owned())
    }

    /// The power limit in watts.
    pub fn power_limit_w(&self) -> Option<f64> {
        // SAFETY: the handle is NVML's; the other is a place for an int.
        ask(|milliwatts| unsafe { (self.functions.power_limit)(self.device, milliwatts) }).map(|mw| f64::from(mw) / 1e3)
    }

    /// Clocks, power and temperature now.
    pub fn read(&self) -> Reading {
        let (functions, device) = (&self.functions, self.device);
        // SAFETY: in each the handle is NVML's, and the last argument a place for an int.
        unsafe {
            Reading {
                sm_mhz: ask(|mhz| (functions.clock)(device, CLOCK_SM, mhz)),
                memory_mhz: ask(|mhz| (functions.clock)(device, CLOCK_MEMORY, mhz)),
                power_w: ask(|milliwatts| (functions.power)(device, milliwatts)).map(|mw| f64::from(mw) / 1e3),
                temperature_c: ask(|degrees| (functions.temperature)(device, TEMPERATURE_GPU, degrees)),
            }
        }
    }
}

/// The number that a question gives, if it is answered.
fn ask(question: impl FnOnce(*mut u32) -> i32) -> Option<u32> {
    let mut value = 0;
    (question(&raw mut value) == 0).then_some(value)
}

impl Drop for Nvml {
    fn drop(&mut self) {
        // SAFETY: NVML was started once by this value.
        let _ = unsafe { (self.functions.shutdown)() };
    }
}
