//! The report: a table for people, JSON for programs.

use std::fmt;

use serde_json::{Value, json};

use super::{figure::Figure, host::Measured};

const HEADINGS: [&str; 6] = [
    "figure",
    "machinist",
    "peer",
    "compared",
    "target",
    "verdict",
];

/// Everything that one run found.
#[derive(Debug)]
pub(super) struct Report {
    pub(super) host: Measured,
    pub(super) rounds: u32,
    /// Seconds that kubectl takes for nothing but its own start.
    pub(super) kubectl: f64,
    pub(super) figures: Vec<Figure>,
}

impl Report {
    pub(super) fn json(&self) -> Value {
        json!({
            "host": self.host.json(),
            "rounds": self.rounds,
            "kubectlAloneSeconds": self.kubectl,
            "figures": self.figures.iter().map(Figure::json).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows = vec![HEADINGS.map(str::to_owned)];
        rows.extend(self.figures.iter().map(row));
        writeln!(f)?;
        write_rows(f, &rows)?;
        writeln!(f)?;
        writeln!(
            f,
            "medians of {} rounds, taken in turns; kubectl's own start is {:.3} s on each side",
            self.rounds, self.kubectl
        )?;
        writeln!(f, "{}", self.host)
    }
}

fn row(figure: &Figure) -> [String; 6] {
    let value = |value: f64| match value {
        small if small < 10.0 => format!("{small:.3}{}", figure.unit),
        large => format!("{large:.1}{}", figure.unit),
    };
    [
        figure.name.to_owned(),
        value(figure.ours()),
        figure.theirs().map_or_else(|| "-".to_owned(), value),
        figure.comparison(),
        figure.promise(),
        match figure.kept() {
            Some(true) => "ok",
            Some(false) => "MISSED",
            None => "-",
        }
        .to_owned(),
    ]
}

/// Names to the left, numbers to the right, each column as wide as its widest cell.
fn write_rows(f: &mut impl fmt::Write, rows: &[[String; 6]]) -> fmt::Result {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..HEADINGS.len()).filter_map(width).collect();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let cell = match column {
                1..=3 => format!("{cell:>width$}"),
                _ => format!("{cell:<width$}"),
            };
            line = line + "  " + &cell;
        }
        writeln!(f, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::{Target, Unit};

    #[test]
    fn columns_are_aligned_and_a_miss_stands_out() {
        let figure = |name, ours, theirs, target| Figure {
            name,
            unit: Unit::Seconds,
            machinist: vec![ours],
            peer: theirs,
            target,
        };
        let figures = [
            figure("start", 0.25, vec![5.0], Target::Fraction(20.0)),
            figure("a long name", 700.0, Vec::new(), Target::Below(600.0)),
        ];
        let mut rows = vec![HEADINGS.map(str::to_owned)];
        rows.extend(figures.iter().map(row));
        let mut text = String::new();
        write_rows(&mut text, &rows).unwrap();
        let expected = "  \
  figure       machinist     peer  compared  target        verdict
  start          0.250 s  5.000 s    1/20.0  at most 1/20  ok
  a long name    700.0 s        -         -  below 600 s   MISSED
";
        assert_eq!(text, expected);
    }
}
