//! What someone may have meant by a name that is not known.

/// `; did you mean ...?` with the known name that is most like `word`, or nothing if none is like it.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(word, known) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}

/// The known name that differs from `word` by the fewest typing errors, if these are few for its length.
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let most = word.chars().count() / 3;
    let apart = |name: &'a str| (distance(&word, &name.to_lowercase()), name);
    let (least, name) = known.into_iter().map(apart).min_by_key(|(d, _)| *d)?;
    (least <= most).then_some(name)
}

/// How many letters must be inserted, left out, replaced or swapped with their neighbour to get from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = last[j] + usize::from(a[i] != b[j]);
            let mut least = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                let swapped: &Vec<usize> = &before;
                least = least.min(swapped[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_seen_through_and_other_words_are_not() {
        let known = ["x", "f", "families", "fourier", "rate", "n_train"];
        for (word, meant) in [
            ("X", Some("x")),
            ("furier", Some("fourier")),
            ("Fuorier", Some("fourier")),
            ("ntrain", Some("n_train")),
            ("n-train", Some("n_train")),
            ("g", None),
            ("note", None),
            ("time", None),
        ] {
            assert_eq!(nearest(word, known), meant, "{word}");
        }
        assert_eq!(did_you_mean("raet", known), "; did you mean `rate`?");
        assert_eq!(did_you_mean("", known), "");
    }
}
