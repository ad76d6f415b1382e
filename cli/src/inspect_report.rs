//! What `inspect` shows of a kernel, as text and as a page.

use std::fmt;

use maud::{DOCTYPE, Markup, html};

/// Each part as text.
pub(crate) struct Report {
    /// The kernel, its architecture and its place.
    pub(crate) title: String,
    /// The resource table.
    pub(crate) figures: String,
    /// Blocks and warps of an SM by architecture.
    pub(crate) occupancy: String,
    /// PTX with lines of Rust as comments.
    pub(crate) ptx: String,
    /// SASS, likewise.
    pub(crate) sass: String,
}

/// Source and machine code side by side, where the window is wide enough.
const STYLE: &str = "body { font-family: sans-serif; margin: 2em } pre { font-size: 85%; overflow-x: auto } \
    .code { display: flex; flex-wrap: wrap; gap: 2em } .code section { flex: 1 1 40em; min-width: 0 } \
    .source { background: #eef4ff; color: #113 }";

impl Report {
    /// A page that needs nothing else.
    pub(crate) fn page(&self) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head { meta charset="utf-8"; title { (self.title) } style { (STYLE) } }
                body {
                    h1 { (self.title) }
                    pre { (self.figures) }
                    pre { (self.occupancy) }
                    div class="code" {
                        section { h2 { "PTX" } (listing(&self.ptx)) }
                        section { h2 { "SASS" } (listing(&self.sass)) }
                    }
                }
            }
        };
        page.into_string()
    }
}

/// Code in which the lines of Rust stand out.
fn listing(code: &str) -> Markup {
    html! {
        pre {
            @for line in code.lines() {
                @if line.starts_with("// ") { span class="source" { (line) } } @else { (line) }
                "\n"
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { title, figures, occupancy, ptx, sass } = self;
        write!(f, "{title}\n\n{figures}\n{occupancy}\n\n{ptx}\n{sass}")
    }
}

#[cfg(test)]
mod tests {
    use super::Report;

    #[test]
    fn both_forms_have_every_part_and_the_page_is_escaped() {
        let report = Report {
            title: "k<f32>".into(),
            figures: "figures".into(),
            occupancy: "occupancy".into(),
            ptx: "// src/lib.rs:1: a < b\n\tadd;\n".into(),
            sass: "EXIT ;\n".into(),
        };
        assert_eq!(report.to_string(), "k<f32>\n\nfigures\noccupancy\n\n// src/lib.rs:1: a < b\n\tadd;\n\nEXIT ;\n");
        let page = report.page();
        for part in ["<h1>k&lt;f32&gt;</h1>", "figures", "occupancy", "\tadd;", "EXIT ;"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(page.contains("<span class=\"source\">// src/lib.rs:1: a &lt; b</span>"), "{page}");
    }
}
