//! Text in a drawing: escaping, superscripts, and how wide it will be.
//!
//! Labels may contain `^{...}` and `_{...}`; everything else is literal.

use std::fmt::Write as _;

use super::colour::Rgb;

/// Point sizes, largest first.
pub const FIGURE_TITLE: f64 = 15.0;
pub const PANEL_TITLE: f64 = 12.5;
pub const LABEL: f64 = 12.0;
pub const TICK: f64 = 10.5;

/// Distance between baselines, in units of the size.
pub const LINE_HEIGHT: f64 = 1.25;

const INK: Rgb = Rgb(0x22, 0x22, 0x22);
const SMALL: f64 = 0.72;

/// Which part of a text its point is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The left end.
    Start,
    /// The middle.
    Middle,
    /// The right end.
    End,
}

/// One line of text at a baseline point.
pub struct Text<'a> {
    x: f64,
    y: f64,
    content: &'a str,
    size: f64,
    anchor: Anchor,
    bold: bool,
    upright: bool,
    halo: bool,
}

impl<'a> Text<'a> {
    /// Text of this size at a point, which is its left end.
    pub fn new(x: f64, y: f64, size: f64, content: &'a str) -> Self {
        Text {
            x,
            y,
            content,
            size,
            anchor: Anchor::Start,
            bold: false,
            upright: false,
            halo: false,
        }
    }

    /// Which part of the text the point is.
    pub fn anchor(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    /// In bold type.
    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// Reads from bottom to top.
    pub fn upright(mut self) -> Self {
        self.upright = true;
        self
    }

    /// Outlined in white, for text over data.
    pub fn halo(mut self) -> Self {
        self.halo = true;
        self
    }

    /// The element.
    pub fn to_svg(&self) -> String {
        let mut svg = format!(
            "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{INK}\"",
            Coordinate(self.x),
            Coordinate(self.y),
            Coordinate(self.size)
        );
        svg.push_str(match self.anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        });
        if self.bold {
            svg.push_str(" font-weight=\"bold\"");
        }
        if self.upright {
            let (x, y) = (Coordinate(self.x), Coordinate(self.y));
            let _ = write!(svg, " transform=\"rotate(-90 {x} {y})\"");
        }
        if self.halo {
            svg.push_str(" stroke=\"white\" stroke-width=\"3\" paint-order=\"stroke\"");
            svg.push_str(" stroke-linejoin=\"round\"");
        }
        svg.push('>');
        let mut shift = 0.0;
        for (level, run) in runs(self.content) {
            let wanted = match level {
                Level::Base => 0.0,
                Level::Super => -0.38 * self.size,
                Level::Sub => 0.2 * self.size,
            };
            let run = escape(run);
            if wanted == 0.0 && shift == 0.0 {
                svg.push_str(&run);
                continue;
            }
            let dy = Coordinate(wanted - shift);
            let size = if level == Level::Base { 1.0 } else { SMALL };
            let size = Coordinate(size * self.size);
            let _ = write!(svg, "<tspan dy=\"{dy}\" font-size=\"{size}\">{run}</tspan>");
            shift = wanted;
        }
        svg.push_str("</text>\n");
        svg
    }
}

/// A pixel coordinate: two decimals, no trailing zeros.
pub struct Coordinate(pub f64);

impl std::fmt::Display for Coordinate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A drawing never spans so much: beyond it only the direction matters.
        let rounded = (self.0.clamp(-1e5, 1e5) * 100.0).round() / 100.0;
        write!(f, "{}", rounded + 0.0)
    }
}

/// A number with a true minus sign, and no sign on zero.
pub fn number(v: f64, decimals: usize) -> String {
    let digits = format!("{:.decimals$}", v.abs());
    let is_zero = digits.chars().all(|c| c == '0' || c == '.');
    if v < 0.0 && !is_zero {
        format!("−{digits}")
    } else {
        digits
    }
}

/// Text made safe for XML. Characters XML forbids outright are dropped.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            '\n' | '\t' => safe.push(' '),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => safe.push(c),
        }
    }
    safe
}

/// Text without the marks of superscripts, for where no markup can go.
pub fn plain(text: &str) -> String {
    runs(text).into_iter().map(|(_, run)| run).collect()
}

/// The width text will take at most. The reader's font is unknown, so this is
/// Helvetica's width and a tenth: enough for the wider fonts put in its place.
pub fn width(text: &str, size: f64) -> f64 {
    let of_run = |(level, run): (Level, &str)| {
        let scale = if level == Level::Base { 1.0 } else { SMALL };
        scale * run.chars().map(advance).sum::<f64>()
    };
    1.1 * size * runs(text).into_iter().map(of_run).sum::<f64>()
}

/// Breaks text at spaces into lines no wider than `most` where that can be done.
pub fn wrap(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut depth = 0usize;
    let words = text.split(|c: char| {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c.is_whitespace() && depth == 0
    });
    for word in words.filter(|w| !w.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Level {
    Base,
    Super,
    Sub,
}

fn runs(text: &str) -> Vec<(Level, &str)> {
    let mut runs = Vec::new();
    let mut rest = text;
    while let Some((start, level)) = next_script(rest) {
        let Some(length) = rest[start + 2..].find('}') else {
            break;
        };
        runs.push((Level::Base, &rest[..start]));
        runs.push((level, &rest[start + 2..start + 2 + length]));
        rest = &rest[start + 3 + length..];
    }
    runs.push((Level::Base, rest));
    runs.retain(|(_, run)| !run.is_empty());
    runs
}

fn next_script(text: &str) -> Option<(usize, Level)> {
    let sup = text.find("^{").map(|at| (at, Level::Super));
    let sub = text.find("_{").map(|at| (at, Level::Sub));
    sup.into_iter().chain(sub).min_by_key(|(at, _)| *at)
}

/// Helvetica's advance widths, in units of the size.
fn advance(c: char) -> f64 {
    let thousandths = match c {
        'i' | 'j' | 'l' | '\'' => 222,
        ' ' | '!' | ',' | '.' | '/' | ':' | ';' | 'I' | '[' | '\\' | ']' | 'f' | 't' | '|' => 278,
        '(' | ')' | '-' | 'r' | '`' | '{' | '}' => 333,
        '"' | '*' | '^' => 400,
        'c' | 'k' | 's' | 'v' | 'x' | 'y' | 'z' | 'J' => 500,
        '+' | '<' | '=' | '>' | '~' | '−' | '×' | '±' => 584,
        'F' | 'T' | 'Z' => 611,
        '&' | 'A' | 'B' | 'E' | 'K' | 'P' | 'S' | 'V' | 'X' | 'Y' => 667,
        'C' | 'D' | 'H' | 'N' | 'R' | 'U' | 'w' => 722,
        'G' | 'O' | 'Q' => 778,
        'M' | 'm' => 833,
        '%' => 889,
        'W' => 944,
        '@' => 1015,
        // Combining marks sit on the letter before them.
        '\u{300}'..='\u{36f}' => 0,
        c if c.is_ascii() => 556,
        '\u{2e80}'..='\u{ffdc}' => 1000,
        _ => 600,
    };
    f64::from(thousandths) / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_is_escaped() {
        assert_eq!(
            escape("a<b & \"c\"\u{0}>'"),
            "a&lt;b &amp; &quot;c&quot;&gt;&apos;"
        );
    }

    #[test]
    fn scripts_become_shifted_spans() {
        let svg = Text::new(0.0, 0.0, 10.0, "10^{−3} u_{h}").to_svg();
        assert!(svg.contains("<tspan dy=\"-3.8\" font-size=\"7.2\">−3</tspan>"));
        assert!(svg.contains(">h</tspan>"));
        assert_eq!(plain("10^{2}"), "102");
        assert_eq!(plain("open ^{ brace"), "open ^{ brace");
    }

    #[test]
    fn wrapping_keeps_every_word_and_respects_the_width() {
        let text = "a rather long title with ^{a b} some words";
        let lines = wrap(text, 10.0, 80.0);
        assert!(lines.len() > 2);
        assert!(lines.iter().all(|l| width(l, 10.0) <= 80.0));
        assert_eq!(lines.join(" "), text);
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!(Coordinate(1.0 / 3.0).to_string(), "0.33");
        assert_eq!(Coordinate(-0.001).to_string(), "0");
        assert_eq!(Coordinate(1e300).to_string(), "100000");
    }

    #[test]
    fn numbers_have_a_true_minus() {
        assert_eq!(number(-1.25, 1), "−1.2");
        assert_eq!(number(-0.001, 1), "0.0");
    }
}
