//! Runs the command in a folder of its own.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// Waits until `ready` says so, but not for ever.
pub fn wait_until(what: &str, mut ready: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !ready() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "waiting for {what}"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A temporary folder with what a test needs.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    /// The command, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_c2cnet"));
        command.args(arguments).current_dir(self.0.path());
        command
    }

    /// Runs the command, which must succeed, and gives its standard output.
    pub fn succeed(&self, arguments: &[&str]) -> String {
        let out = self.command(arguments).output().unwrap();
        let text = String::from_utf8(out.stdout.clone()).unwrap();
        assert!(
            out.status.success(),
            "{arguments:?}: {}\n{text}",
            String::from_utf8_lossy(&out.stderr)
        );
        // Nothing moves in a pipe.
        assert!(
            out.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        text
    }

    pub fn succeed_json(&self, arguments: &[&str]) -> serde_json::Value {
        let text = self.succeed(arguments);
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"))
    }

    /// Runs the command, which must fail with `code` and a message that holds `parts`, and leave
    /// no file behind.
    pub fn fail(&self, arguments: &[&str], code: i32, parts: &[&str]) {
        let before = self.names();
        let out: Output = self.command(arguments).output().unwrap();
        let message = String::from_utf8_lossy(&out.stderr).to_string();
        assert_eq!(out.status.code(), Some(code), "{arguments:?}: {message}");
        // Notes on the data may come first.
        let first = message.lines().find(|line| !line.starts_with("note: "));
        assert!(first.is_some_and(|l| l.starts_with("error: ")), "{message}");
        assert!(!message.contains("panicked"), "{message}");
        for part in parts {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
        assert_eq!(self.names(), before, "{arguments:?} left something behind");
    }

    /// The names in the folder.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// Small data of the one-dimensional problem.
    pub fn generate(&self, name: &str) {
        self.succeed(&[
            "generate",
            "darcy1d",
            "-o",
            name,
            "--seed",
            "1",
            "--set",
            "points=101",
            "--set",
            "n_train=60",
            "--set",
            "n_test=20",
            "--set",
            "length=0.2",
        ]);
    }

    /// A model fitted to that data with small bases.
    pub fn fit(&self, data: &str, model: &str) -> serde_json::Value {
        let mut arguments = vec!["fit", data, "-o", model, "--json"];
        arguments.extend(BASES);
        self.succeed_json(&arguments)
    }
}

/// Small bases that fit the data of [`Folder::generate`].
pub const BASES: [&str; 4] = [
    "--input-basis",
    "family='polynomial', functions=24",
    "--output-basis",
    "{family='fourier', kind='sine', functions=24}",
];
