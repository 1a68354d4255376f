//! A parser's messages about settings that cannot be used, in words for whoever wrote them.

use super::groups::groups;
use crate::suggest::{did_you_mean, nearest};

/// A parser's words, and what to say instead.
const WORDS: [(&str, &str); 6] = [
    ("expected u64", "expected a whole number from 0"),
    ("expected usize", "expected a whole number from 0"),
    ("expected u32", "expected a whole number from 0"),
    ("expected f64", "expected a number"),
    ("expected a sequence", "expected a list"),
    (
        "expected a map",
        "expected a table, such as { family = \"fourier\", kind = \"sine\", functions = 128 } for a basis",
    ),
];

/// The message of a parser of [`FitConfig`](super::FitConfig) with what it lacks: the name that was meant, how a list is
/// written, which values a setting may have.
pub fn explain(message: &str) -> String {
    let message = message.trim();
    let mut text = message.to_string();
    for (theirs, ours) in WORDS {
        text = text.replace(theirs, ours);
    }
    for theirs in ["expected struct ", "expected internally tagged enum "] {
        let Some(start) = text.find(theirs) else {
            continue;
        };
        let name = start + theirs.len();
        let end = text[name..].find(|c: char| !c.is_alphanumeric());
        let end = end.map_or(text.len(), |end| name + end);
        let example = match &text[name..end] {
            "Optimiser" => ", such as { kind = \"adam\", weight_decay = 1e-4 }",
            _ => " of settings, as { name = value }",
        };
        text.replace_range(start..end, &format!("expected a table{example}"));
    }
    if let Some(start) = text.find("data did not match any variant of untagged enum ") {
        let rest = &text[start..];
        let end = rest.find([',', '\n']).unwrap_or(rest.len());
        text.replace_range(start..start + end, "this is not one of the allowed values");
    }
    text + &meant(message) + &as_list(message) + &range(message)
}

/// The known name that an unknown one is most like, among those of its table or as the end of any other.
fn meant(message: &str) -> String {
    let named = |what: &str| quoted(message.split_once(what)?.1);
    let Some(name) = named("unknown field ").or_else(|| named("unknown variant ")) else {
        return String::new();
    };
    let listed = message.split_once("expected one of ");
    let listed: Vec<&str> = listed.map_or(Vec::new(), |(_, rest)| {
        rest.split('`').skip(1).step_by(2).collect()
    });
    if nearest(name, listed.iter().copied()).is_some() || message.contains("unknown variant") {
        return did_you_mean(name, listed);
    }
    let all: Vec<String> = groups()
        .into_iter()
        .flat_map(|group| group.settings)
        .map(|setting| setting.name)
        .collect();
    let within = |full: &&String| full.rsplit('.').next() == Some(name);
    let whole = all.iter().find(within).map(String::as_str);
    let part = || {
        let part = |known: &&&str| name.split('_').any(|part| part == **known);
        listed.iter().find(part).copied()
    };
    match part().or(whole) {
        Some(meant) => format!("; did you mean `{meant}`?"),
        None => String::new(),
    }
}

/// How to write the list that was expected.
fn as_list(message: &str) -> String {
    let found = || {
        let (before, _) = message.split_once(", expected a sequence")?;
        quoted(before.rsplit_once("invalid type: ")?.1)
    };
    match found() {
        Some(value) => format!("; write it as a list: [{value}]"),
        None => String::new(),
    }
}

/// The values allowed for the setting that the message names.
fn range(message: &str) -> String {
    let wrong = ["invalid type", "invalid value", "untagged enum"];
    let key = message.rsplit_once(", in `");
    let key = key.and_then(|(_, rest)| rest.split('`').next());
    let (Some(key), true) = (key, wrong.iter().any(|w| message.contains(w))) else {
        return String::new();
    };
    let groups = groups();
    let mut settings = groups.iter().flat_map(|group| &group.settings);
    let says = |range: &str| !range.is_empty() && range != "any" && !range.starts_with("see ");
    match settings.find(|setting| setting.name == key && says(&setting.range)) {
        Some(setting) => format!("; values of `{key}`: {}", setting.range),
        None => String::new(),
    }
}

/// The text between the first two backticks.
fn quoted(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once('`')?;
    rest.split_once('`').map(|(inside, _)| inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FitConfig;

    fn said(json: &str) -> String {
        let error = serde_json::from_str::<FitConfig>(json).unwrap_err();
        explain(&error.to_string())
    }

    #[test]
    fn unknown_names_have_a_proposal() {
        assert!(said(r#"{"sede": 3}"#).ends_with("did you mean `seed`?"));
        let elsewhere = said(r#"{"transform": "log"}"#);
        assert!(
            elsewhere.ends_with("did you mean `input.transform`?"),
            "{elsewhere}"
        );
        let rate = said(r#"{"map": {"mlp": {"learning_rate": 1}}}"#);
        assert!(rate.ends_with("did you mean `rate`?"), "{rate}");
        let kind = said(r#"{"map": {"kind": "kernal"}}"#);
        assert!(kind.ends_with("did you mean `kernel`?"), "{kind}");
        let strange = said(r#"{"colour": 3}"#);
        assert!(!strange.contains("did you mean"), "{strange}");
    }

    #[test]
    fn types_are_called_what_they_are() {
        let seed = said(r#"{"seed": -1}"#);
        assert!(seed.contains("expected a whole number from 0"), "{seed}");
        let list = said(r#"{"output": {"periodic": true}}"#);
        assert!(
            list.contains("expected a list") && list.contains("[true]"),
            "{list}"
        );
        let optimiser = said(r#"{"map": {"mlp": {"optimiser": "adam"}}}"#);
        assert!(
            optimiser.contains("expected a table, such as { kind = \"adam\"")
                && !optimiser.contains("struct"),
            "{optimiser}"
        );
        let domain = "data did not match any variant of untagged enum Side, in `output.domain`";
        let domain = explain(domain);
        assert!(
            domain.contains("[[0, 1]]") && !domain.contains("enum"),
            "{domain}"
        );
    }
}
