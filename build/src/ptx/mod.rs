//! A small reader of PTX: enough to count what a kernel does and to see where a directive belongs.
//!
//! It knows the shape of the text (comments, directives, functions, statements) and of an instruction's opcode, not
//! what instructions mean. What a kernel declares beside its code is a comment in the text ([`Declared`]). PTX ISA
//! reference: <https://docs.nvidia.com/cuda/parallel-thread-execution/>.

mod declared;
mod instruction;
mod reader;

pub use declared::{Declared, MARKER};
pub use instruction::{Action, Space, decode};
pub use reader::read;

/// A PTX file.
#[derive(Debug, Default, PartialEq)]
pub struct Module {
    /// `.target`, such as `sm_80`.
    pub target: String,
    /// Functions with a body, kernels among them, in the order of the file.
    pub functions: Vec<Function>,
    /// Declarations of functions that are defined elsewhere.
    pub extern_functions: Vec<ExternFunction>,
    /// What the kernels declare, in the order of the file.
    pub declared: Vec<Declared>,
}

/// A function declared, not defined.
#[derive(Debug, PartialEq)]
pub struct ExternFunction {
    /// Its symbol.
    pub name: String,
    /// Line in the file, from 1.
    pub line: usize,
}

/// A function with a body.
#[derive(Debug, PartialEq)]
pub struct Function {
    /// Its symbol.
    pub name: String,
    /// Whether the host can launch it (`.entry`).
    pub kernel: bool,
    /// Line of its header, from 1.
    pub line: usize,
    /// From `.visible .entry` to just before `{`.
    pub header: String,
    /// Offset of the body's `{` in the text.
    pub body_at: usize,
    /// Declarations and instructions, without labels and scopes.
    pub statements: Vec<Statement>,
}

/// One declaration or instruction.
#[derive(Debug, PartialEq)]
pub struct Statement {
    /// Line in the file, from 1.
    pub line: usize,
    /// Its text without the `;`.
    pub text: String,
}

impl Module {
    /// The functions that the host can launch.
    pub fn kernels(&self) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(|function| function.kernel)
    }

    /// What the kernel of this name declares; `None` where `#[kernel]` did not write it.
    pub fn declared(&self, name: &str) -> Option<&Declared> {
        self.declared.iter().find(|declared| declared.name == name)
    }
}
