//! One small PTX text per rule: each breaks exactly that rule, and the correct one breaks none.

use super::super::usage::Usage;
use super::{Finding, Rules, check_assembly, check_file, check_kernel, check_resources};
use crate::ptx::{self, Declared, Module};
use crate::ptxas::{Report, Resources};

const DECLARED: &str = "// warpwright.kernel copy block=64,1,1 registers=40 barriers=1 global_load_bytes=16 \
    global_store_bytes=16 at=gpu/src/family/copy.rs:12";

fn declared() -> Declared {
    Declared::read(DECLARED).unwrap().unwrap()
}

/// A kernel that breaks no rule, with room for one more statement.
fn text(extra: &str) -> String {
    format!(
        ".version 7.0
.target sm_80
.address_size 64
.visible .entry copy(
	.param .u64 copy_param_0
)
{DECLARED}
.reqntid 64, 1, 1
{{
	ld.param.b64 %rd1, [copy_param_0];
	ld.global.v4.b32 {{%r1, %r2, %r3, %r4}}, [%rd1];
	st.shared.b32 [tile], %r1;
	bar.sync 0;
	{extra}
	st.global.v4.b32 [%rd1], {{%r1, %r2, %r3, %r4}};
	ret;
}}
"
    )
}

fn kernel_findings(text: &str) -> Vec<String> {
    let module = ptx::read(text).unwrap();
    let function = module.kernels().next().unwrap();
    check_kernel(&declared(), function, &Usage::of(function), Rules::Strict).iter().map(Finding::to_string).collect()
}

fn file_findings(text: &str) -> Vec<String> {
    let module: Module = ptx::read(text).unwrap();
    check_file(&module, "family", "sm_80").iter().map(Finding::to_string).collect()
}

#[test]
fn a_sound_kernel_breaks_no_rule() {
    assert_eq!(kernel_findings(&text("")), [""; 0]);
    assert_eq!(file_findings(&text("")), [""; 0]);
    let resources = Resources { registers: Some(40), ..Resources::default() };
    assert_eq!(check_resources(&declared(), resources, Rules::Strict), []);
    assert_eq!(check_assembly("family", &Report::default()), []);
}

#[test]
fn each_rule_of_a_kernel_names_what_where_and_the_limit() {
    let table = [
        ("ld.b32 %r1, [%rd1];", "1 access without a memory space, first at line 14: `ld.b32 %r1, [%rd1]`"),
        ("st.v2.b32 [%rd1], {%r1, %r2};", "1 access without a memory space"),
        ("red.add.u32 [%rd1], 1;", "1 access without a memory space"),
        (
            "call.uni _RNvNtCsdGTeb0q3mbZ_4core9panicking18panic_bounds_check, (param0);",
            "1 call not inlined, first at line 14: core::panicking::panic_bounds_check",
        ),
        ("trap;", "1 trap, at most 0 allowed, first at line 14"),
        (".local .align 8 .b8 __local_depot0[512];", "512 bytes of local memory, at most 0 allowed, first at line 14"),
        ("ld.local.b32 %r1, [%rd1];", "0 bytes of local memory, at most 0 allowed, first at line 14: `ld.local.b32"),
        ("bar.sync 1, 32;", "2 barrier instructions, exactly 1 expected"),
        ("ld.global.nc.v2.b32 {%r1, %r2}, [%rd1];", "1 global load of 8 bytes, at least 16 expected, first at line 14"),
        ("cp.async.ca.shared.global [%r1], [%rd1], 4;", "1 global load of 4 bytes, at least 16 expected"),
        ("st.global.b8 [%rd1], %rs1;", "1 global store of 1 bytes, at least 16 expected"),
    ];
    for (extra, expected) in table {
        let findings = kernel_findings(&text(extra));
        assert_eq!(findings.len(), 1, "{extra} gave {findings:?}");
        assert!(findings[0].starts_with(&format!("copy: {expected}")), "{extra} gave {findings:?}");
        assert!(findings[0].ends_with("(declared at gpu/src/family/copy.rs:12)"), "{findings:?}");
    }
}

#[test]
fn a_missing_or_different_launch_directive_is_found() {
    for header in ["", ".reqntid 32, 1, 1"] {
        let findings = kernel_findings(&text("").replace(".reqntid 64, 1, 1", header));
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains("its header lacks `.reqntid 64, 1, 1`"), "{findings:?}");
    }
}

#[test]
fn a_pdl_kernel_waits_before_it_accesses_global_memory() {
    let findings = |text: &str| {
        let module = ptx::read(text).unwrap();
        let function = module.kernels().next().unwrap();
        let declared = Declared { pdl: true, ..declared() };
        check_kernel(&declared, function, &Usage::of(function), Rules::Strict)
            .iter()
            .map(Finding::to_string)
            .collect::<Vec<_>>()
    };
    let first = "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];";
    let sound =
        text("").replace(first, &format!("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;\n\t{first}"));
    assert_eq!(findings(&sound), [""; 0]);
    let tma = "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r1, %r2}], [%r3];";
    let table = [
        (text(""), "copy: no wait for the previous grid"),
        (text("griddepcontrol.wait;"), "copy: line 11: `ld.global.v4.b32 "),
        (
            sound.replace("\tgriddepcontrol.launch", &format!("\t{tma}\n\tgriddepcontrol.launch")),
            "copy: line 11: `cp.async.bulk",
        ),
    ];
    for (text, expected) in table {
        let findings = findings(&text);
        assert!(findings.len() == 1 && findings[0].starts_with(expected), "{findings:?} for {text}");
    }
}

#[test]
fn a_declared_allowance_is_an_allowance() {
    let declared = Declared { traps: Some(2), local_bytes: Some(16), ..declared() };
    let module = ptx::read(&text("trap; trap; .local .align 4 .b8 depot[16]; st.local.b32 [%rd1], %r1;")).unwrap();
    let function = module.kernels().next().unwrap();
    assert_eq!(check_kernel(&declared, function, &Usage::of(function), Rules::Strict), []);
    let resources = Resources { stack: 16, spill_stores: 24, registers: Some(1), ..Resources::default() };
    assert_eq!(check_resources(&declared, resources, Rules::Strict), []);
    let findings = check_resources(&declared, Resources { stack: 24, ..resources }, Rules::Strict);
    assert!(findings.len() == 1 && findings[0].to_string().starts_with("copy: 24 bytes of stack"), "{findings:?}");
}

#[test]
fn each_rule_of_a_file_names_its_fault() {
    let extern_function = ".extern .func _RNvNtCsdGTeb0q3mbZ_4core9panicking9panic_fmt();\n";
    let other = text("").replace("copy(", "move(").replace(DECLARED, "");
    let table = [
        (text("").replace(".target sm_80", ".target sm_90a"), "-: its .target is `sm_90a`, its name says sm_80"),
        (text("") + extern_function, "core::panicking::panic_fmt is declared and defined nowhere"),
        (
            text("") + &other[other.find(".visible").unwrap()..],
            "move: line 18: the PTX has this .entry without its declaration",
        ),
        (".version 7.0\n.target sm_80\n".to_owned(), "-: the PTX has no .entry"),
        (text("") + "// warpwright.kernel gone at=f.rs:3\n", "gone: the PTX declares it and has no such .entry"),
    ];
    for (text, expected) in table {
        let findings = file_findings(&text);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].contains(expected), "{findings:?}");
    }
}

#[test]
fn each_rule_of_the_assembler_names_its_fault() {
    let base = Resources { registers: Some(40), ..Resources::default() };
    let table = [
        (Resources { registers: Some(41), ..base }, "copy: 41 registers, at most 40 allowed"),
        (Resources { spill_stores: 4, ..base }, "copy: spills 4 bytes out and 0 bytes back, none allowed"),
        (Resources { spill_loads: 8, ..base }, "copy: spills 0 bytes out and 8 bytes back, none allowed"),
        (Resources { stack: 16, ..base }, "copy: 16 bytes of stack, at most 0 allowed"),
    ];
    for (resources, expected) in table {
        let findings = check_resources(&declared(), resources, Rules::Strict);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].to_string().starts_with(expected), "{findings:?}");
    }
    let losses = vec!["ptxas info : (C7510) Potential Performance Loss: wgmma".to_owned()];
    let findings = check_assembly("family", &Report { performance_losses: losses, ..Report::default() });
    assert!(findings[0].to_string().contains("C7510"));
}
