//! Every row of the texts.

use super::figures::{Row, banks, matmul, squares, transposes, warps};
use super::report::{FigureReport, RowReport};

/// All rows, in the texts' order.
pub fn rows() -> Vec<Row> {
    let texts = [matmul::rows(), squares::rows(), warps::rows(), banks::rows(), transposes::rows()];
    texts.into_iter().flatten().collect()
}

/// A row with its figures.
pub(super) fn figures_of(row: &Row) -> RowReport {
    let (figures, error) = match (row.figures)() {
        Ok(figures) => (figures, None),
        Err(error) => (Vec::new(), Some(format!("{error:#}"))),
    };
    let figures: Vec<FigureReport> = figures
        .iter()
        .map(|figure| FigureReport {
            what: figure.what.clone(),
            text: figure.text.as_ref().map(ToString::to_string),
            rule: figure.rule.to_string(),
            computed: figure.computed.to_string(),
            because: figure.because.map(ToOwned::to_owned),
            reproduced: figure.is_reproduced(),
        })
        .collect();
    RowReport {
        id: row.id.into(),
        kernels: row.kernels.iter().map(ToString::to_string).collect(),
        idea: row.idea.into(),
        // A row without figures reproduces nothing.
        reproduced: !figures.is_empty() && figures.iter().all(|figure| figure.reproduced),
        figures,
        error,
    }
}

#[cfg(test)]
mod tests {
    use anyhow::bail;

    use super::super::figures::{Figure, Value};
    use super::super::steps;
    use super::*;

    #[test]
    fn every_row_of_the_texts_is_there_once() {
        let of = |letter: char, count: u32| (1..=count).map(move |number| format!("{letter}{number}"));
        let expected: Vec<String> = of('A', 5).chain(of('B', 3)).chain(of('C', 9)).chain(of('D', 11)).collect();
        assert_eq!(rows().iter().map(|row| row.id).collect::<Vec<_>>(), expected);
    }

    /// Every kernel of a row is a step, and every step belongs to the row that it names.
    #[test]
    fn rows_and_steps_agree() {
        let steps: Vec<(Option<&str>, &str)> = steps::all().map(|step| (step.row, step.kernel().name)).collect();
        for row in rows() {
            assert!(!row.kernels.is_empty(), "{}", row.id);
            for kernel in row.kernels {
                assert!(steps.iter().any(|(_, name)| name == kernel), "{}: {kernel} is no step", row.id);
            }
            for (_, kernel) in steps.iter().filter(|(id, _)| *id == Some(row.id)) {
                assert!(row.kernels.contains(kernel), "{}: {kernel} is a step of it, but not in its kernels", row.id);
            }
        }
        for (row, kernel) in steps {
            assert!(row.is_none_or(|id| rows().iter().any(|row| row.id == id)), "{kernel}: there is no row {row:?}");
        }
    }

    fn row(figures: fn() -> anyhow::Result<Vec<Figure>>) -> Row {
        Row { id: "X1", kernels: &["k"], idea: "none", figures }
    }

    #[test]
    fn a_row_needs_all_its_figures() {
        let count = Value::Count;
        let right =
            figures_of(&row(|| Ok(vec![Figure::stated("a", Value::Count(3), Value::Count(3), Value::Count(3))])));
        assert!(right.reproduced && right.error.is_none());
        let wrong = figures_of(&row(|| {
            let figure = |computed| Figure::ruled("a", Value::Count(3), Value::Count(computed));
            Ok(vec![figure(3), figure(4)])
        }));
        assert!(!wrong.reproduced && wrong.figures[0].reproduced && !wrong.figures[1].reproduced);
        assert_eq!(wrong.figures[1].computed, count(4).to_string());
        assert!(!figures_of(&row(|| Ok(Vec::new()))).reproduced, "nothing is no reproduction");
        let failed = figures_of(&row(|| bail!("a fault")));
        assert_eq!((failed.reproduced, failed.error.as_deref()), (false, Some("a fault")));
    }
}
