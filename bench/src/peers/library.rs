//! Finding a shared library, and a struct of its functions.

use std::env;
use std::fmt;
use std::path::Path;

use libloading::Library;

/// A library that is not there, or lacks a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its name.
    pub name: &'static str,
    /// What was tried, and what the dynamic linker said.
    pub tried: Vec<String>,
    /// How to get it.
    pub remedy: &'static str,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not there: {} ({})", self.name, self.remedy, self.tried.join("; "))
    }
}

impl std::error::Error for Missing {}

/// A status that is not success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The function.
    pub call: &'static str,
    /// What it returned.
    pub code: i32,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} returned status {}", self.call, self.code)
    }
}

impl std::error::Error for Status {}

/// Success is 0 in every library here.
pub(super) fn check(call: &'static str, code: i32) -> Result<(), Status> {
    if code == 0 { Ok(()) } else { Err(Status { call, code }) }
}

/// Where to look for a library.
pub(super) struct Search<'a> {
    /// Its name.
    pub(super) name: &'static str,
    /// An environment variable that names the file.
    pub(super) variable: &'a str,
    /// File names, the preferred first.
    pub(super) files: &'a [&'a str],
    /// How to get it.
    pub(super) remedy: &'static str,
}

impl Search<'_> {
    /// Loads the first that is there: what the variable names, else by the dynamic linker's own search, then beside
    /// this program, then in the toolkit (`CUDA_HOME`, else /usr/local/cuda).
    pub(super) fn open(&self) -> Result<Library, Missing> {
        let mut tried = Vec::new();
        for file in self.candidates() {
            // SAFETY: loading runs the library's initialisers: those of NVIDIA's libraries, of the one that the bundle
            // built, or of what the user named in their place. They have no precondition on this process.
            match unsafe { Library::new(&file) } {
                Ok(library) => return Ok(library),
                Err(libloading::Error::DlOpen { desc }) => tried.push(format!("{desc:?}").trim_matches('"').to_owned()),
                Err(error) => tried.push(error.to_string()),
            }
        }
        Err(self.missing(tried))
    }

    pub(super) fn missing(&self, tried: Vec<String>) -> Missing {
        Missing { name: self.name, tried, remedy: self.remedy }
    }

    fn candidates(&self) -> Vec<String> {
        if let Some(file) = env::var(self.variable).ok().filter(|file| !file.is_empty()) {
            return vec![file];
        }
        let toolkit = env::var("CUDA_HOME").unwrap_or_else(|_| "/usr/local/cuda".into());
        let beside = env::current_exe().ok().and_then(|program| Some(program.parent()?.parent()?.join("peers")));
        let mut candidates: Vec<String> = self.files.iter().map(|&file| file.to_owned()).collect();
        for folder in beside.into_iter().chain([Path::new(&toolkit).join("lib64")]) {
            let there = self.files.iter().map(|file| folder.join(file)).filter(|file| file.is_file());
            candidates.extend(there.map(|file| file.to_string_lossy().into_owned()));
        }
        candidates
    }
}

/// Declares a struct of a library's functions, with a constructor that finds all of them.
///
/// The caller of the macro states each signature; that it is the library's own is what makes calls through it sound.
macro_rules! functions {
    ($(#[$meta:meta])* $name:ident {
        $($(#[$doc:meta])* fn $function:ident = $symbol:literal ($($argument:ty),* $(,)?) -> $result:ty;)+
    }) => {
        $(#[$meta])*
        struct $name {
            $($(#[$doc])* $function: unsafe extern "C" fn($($argument),*) -> $result,)+
            /// The functions lie in it.
            _library: libloading::Library,
        }

        impl $name {
            fn find(search: &$crate::peers::library::Search<'_>) -> Result<Self, $crate::peers::Missing> {
                let library = search.open()?;
                $(
                    // SAFETY: the function has the signature stated above, that of the library's header.
                    let $function = unsafe {
                        let symbol = concat!($symbol, "\0").as_bytes();
                        library.get::<unsafe extern "C" fn($($argument),*) -> $result>(symbol)
                    };
                    let $function = *$function.map_err(|error| search.missing(vec![error.to_string()]))?;
                )+
                Ok(Self { $($function,)+ _library: library })
            }
        }
    };
}
pub(super) use functions;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named_with_its_remedy() {
        let search = Search {
            name: "cuFOO",
            variable: "WARPWRIGHT_TEST_NO_SUCH_VARIABLE",
            files: &["libcufoo-of-warpwright.so.99"],
            remedy: "install foo",
        };
        let missing = search.open().unwrap_err();
        let text = missing.to_string();
        assert!(text.starts_with("cuFOO is not there: install foo (libcufoo-of-warpwright.so.99:"), "{text}");
    }

    #[test]
    fn a_function_that_is_not_there_is_named() {
        functions! {
            /// Not NVIDIA's.
            Odd {
                fn nothing = "warpwright_has_no_such_function"() -> i32;
            }
        }
        let search = Search {
            name: "libc",
            variable: "WARPWRIGHT_TEST_NO_SUCH_VARIABLE",
            files: &["libc.so.6"],
            remedy: "none",
        };
        let found = Odd::find(&search).map(|odd| odd.nothing);
        let missing = found.expect_err("libc has no such function");
        assert!(missing.to_string().contains("warpwright_has_no_such_function"), "{missing}");
    }

    #[test]
    fn status_zero_is_success() {
        assert_eq!(check("f", 0), Ok(()));
        assert_eq!(check("f", 7).unwrap_err().to_string(), "f returned status 7");
    }
}
