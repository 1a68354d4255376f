//! Types by name: what a file or a setting says is looked up here.

use crate::suggest::did_you_mean;
use crate::{Error, Result};
use std::any::TypeId;
use std::sync::{PoisonError, RwLock};

/// Entries by name, in the order of their registration.
pub(crate) struct Registry<E> {
    /// What an entry is, and what adds one outside of the crate, for messages.
    what: &'static str,
    add_with: Option<&'static str>,
    entries: RwLock<Vec<(&'static str, TypeId, E)>>,
}

impl<E: Clone> Registry<E> {
    pub(crate) const fn new(what: &'static str, add_with: Option<&'static str>) -> Self {
        Registry {
            what,
            add_with,
            entries: RwLock::new(Vec::new()),
        }
    }

    /// Registers the type `T`; registering twice is harmless.
    ///
    /// # Errors
    /// If another type has the name.
    pub(crate) fn add<T: 'static>(&self, name: &'static str, entry: E) -> Result<()> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        match entries.iter().find(|e| e.0 == name) {
            Some(known) if known.1 == TypeId::of::<T>() => Ok(()),
            Some(_) => Err(Error::Config(format!(
                "the {} {name:?} is already registered for another type; choose another name",
                self.what
            ))),
            None => {
                entries.push((name, TypeId::of::<T>(), entry));
                Ok(())
            }
        }
    }

    /// The entry called `name`.
    ///
    /// # Errors
    /// If there is none, naming those that there are.
    pub(crate) fn find(&self, name: &str) -> Result<E> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        match entries.iter().find(|e| e.0 == name) {
            Some((_, _, entry)) => Ok(entry.clone()),
            None => {
                let known: Vec<_> = entries.iter().map(|e| format!("`{}`", e.0)).collect();
                let advice = match did_you_mean(name, entries.iter().map(|e| e.0)) {
                    none if none.is_empty() => self
                        .add_with
                        .map_or(none, |add| format!("; `{add}` adds one")),
                    meant => meant,
                };
                Err(Error::Config(format!(
                    "the {} `{name}` is unknown, expected one of {}{advice}",
                    self.what,
                    known.join(", ")
                )))
            }
        }
    }

    /// All entries, in the order of their registration.
    pub(crate) fn all(&self) -> Vec<E> {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        entries.iter().map(|e| e.2.clone()).collect()
    }
}
