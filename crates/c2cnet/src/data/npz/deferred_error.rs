//! A writer that keeps its first error for the caller.

use std::io::{self, Seek, SeekFrom, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Passes on what is written until an error; from then on only counts.
///
/// The zip writer finishes its archive when it is dropped, and complains on standard error if it cannot. A full
/// disk is hidden from it; [`Failure::check`] reports it.
#[derive(Debug)]
pub(super) struct DeferredError<W> {
    inner: W,
    failure: Failure,
    /// The position of the next byte, and the number of bytes, written or not.
    position: u64,
    end: u64,
}

/// What went wrong first.
#[derive(Debug, Clone, Default)]
pub(super) struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    /// # Errors
    /// What went wrong, on the first call; later, that something did.
    pub(super) fn check(&self) -> io::Result<()> {
        let mut failure = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match failure.take() {
            None => Ok(()),
            Some(error) => {
                *failure = Some(io::Error::from(error.kind()));
                Err(error)
            }
        }
    }

    /// The result of `work`; nothing once something has failed.
    fn note<T>(&self, work: impl FnOnce() -> io::Result<T>) -> Option<T> {
        let mut failure = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_some() {
            return None;
        }
        match work() {
            Ok(done) => Some(done),
            Err(error) => {
                *failure = Some(error);
                None
            }
        }
    }
}

impl<W> DeferredError<W> {
    pub(super) fn new(inner: W, failure: Failure) -> Self {
        DeferredError {
            inner,
            failure,
            position: 0,
            end: 0,
        }
    }

    pub(super) fn into_inner(self) -> W {
        self.inner
    }
}

impl<W: Write> Write for DeferredError<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let inner = &mut self.inner;
        self.failure.note(|| inner.write_all(bytes));
        self.position += bytes.len() as u64;
        self.end = self.end.max(self.position);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let inner = &mut self.inner;
        self.failure.note(|| inner.flush());
        Ok(())
    }
}

impl<W: Seek> Seek for DeferredError<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        let place = place.ok_or(io::ErrorKind::InvalidInput)?;
        let inner = &mut self.inner;
        self.failure.note(|| inner.seek(SeekFrom::Start(place)));
        self.position = place;
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::super::NpzWriter;
    use super::*;

    /// A disk with this much space left.
    #[derive(Debug)]
    struct Small(io::Cursor<Vec<u8>>, usize);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.position() as usize + bytes.len() > self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Small {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn a_full_disk_is_told_once_whenever_it_is_full() {
        let whole = {
            let mut npz = NpzWriter::new(io::Cursor::new(Vec::new()));
            npz.put_f64("x", &[40], [1.0; 40]).unwrap();
            npz.finish().unwrap().into_inner()
        };
        for space in 0..=whole.len() {
            let mut npz = NpzWriter::new(Small(io::Cursor::new(Vec::new()), space));
            let put = npz.put_f64("x", &[40], [1.0; 40]);
            let written = put.and_then(|()| npz.finish());
            match written {
                Ok(small) => {
                    assert_eq!((space, small.0.get_ref()), (whole.len(), &whole));
                }
                Err(e) => assert_eq!(e.kind(), io::ErrorKind::StorageFull, "{space}"),
            }
        }
    }
}
