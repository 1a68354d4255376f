//! The help that people read, and the commands that the documentation shows.

use super::Cli;
use clap::Parser;
use std::path::Path;

/// The narrowest terminal on which commands to copy must not break, and the widest lines that help has.
const NARROW: usize = 80;
const WIDE: usize = 100;

#[test]
fn help_has_no_broken_lines() {
    let mut command = super::command().term_width(WIDE);
    command.build();
    let subcommands = command.get_subcommands().cloned();
    for mut command in subcommands.chain([command.clone()]) {
        let name = command.get_name().to_string();
        let after = command.get_after_help().map(ToString::to_string);
        for line in after.unwrap_or_default().lines() {
            let most = match line.trim_start().len() == line.len() {
                true => continue,
                false if line.trim_start().starts_with("c2cnet ") => NARROW,
                false => WIDE,
            };
            let fits = line.chars().count() <= most;
            assert!(fits, "{name}: longer than {most}: {line}");
        }
        let help = command.render_long_help().to_string();
        for line in help.lines() {
            assert!(line.chars().count() <= WIDE, "{name}: {line}");
        }
    }
}

#[test]
fn prose_of_the_help_is_one_line_for_each_paragraph() {
    let text = "One\ntwo.\n\nExamples:\n  c2cnet a\n  c2cnet b\nthree\nfour";
    let joined = "One two.\n\nExamples:\n  c2cnet a\n  c2cnet b\nthree four";
    assert_eq!(super::paragraphs(text), joined);
}

/// The commands in the shell blocks of a page, as words.
fn commands(page: &str) -> Vec<Vec<String>> {
    let blocks = page.split("```sh\n").skip(1);
    let text: String = blocks.filter_map(|b| b.split("```").next()).collect();
    let lines = text.replace("\\\n", " ");
    let lines = lines.lines().map(str::trim);
    let ours = lines.filter(|line| line.starts_with("c2cnet "));
    ours.flat_map(|line| {
        let words = shlex::split(line).unwrap_or_else(|| panic!("quotes do not match: {line}"));
        let parts = words.split(|word| ["&&", "|", ";", ">"].contains(&word.as_str()));
        let parts = parts.filter(|part| part.first().is_some_and(|word| word == "c2cnet"));
        parts.map(<[String]>::to_vec).collect::<Vec<_>>()
    })
    .collect()
}

#[test]
fn commands_in_the_documentation_are_commands() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let docs = std::fs::read_dir(root.join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let pages = docs.chain([root.join("README.md")]);
    let mut checked = 0;
    for path in pages.filter(|path| path.extension().is_some_and(|e| e == "md")) {
        for command in commands(&std::fs::read_to_string(&path).unwrap()) {
            if let Err(e) = Cli::try_parse_from(&command) {
                let shows = matches!(e.exit_code(), 0);
                assert!(shows, "{}: {}\n{e}", path.display(), command.join(" "));
            }
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}
