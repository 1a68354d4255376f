//! Which data: a short digest of all its numbers.

/// A digest (BLAKE3) of words and texts in order.
#[derive(Debug, Default)]
pub struct Fingerprint {
    hasher: blake3::Hasher,
    /// Words not yet digested: one by one they would cost more than in batches.
    pending: Vec<u8>,
}

/// Bytes that are digested in one batch.
const BATCH_BYTES: usize = 1 << 16;

/// Characters of a fingerprint.
const DIGITS: usize = 16;

impl Fingerprint {
    /// Adds a word.
    pub fn word(&mut self, word: u64) {
        self.pending.extend(word.to_le_bytes());
        if self.pending.len() >= BATCH_BYTES {
            self.flush();
        }
    }

    /// Adds numbers by their bits.
    pub fn numbers(&mut self, numbers: impl IntoIterator<Item = f64>) {
        numbers.into_iter().for_each(|v| self.word(v.to_bits()));
    }

    /// Adds a text.
    pub fn text(&mut self, text: &str) {
        self.word(text.len() as u64);
        self.pending.extend(text.as_bytes());
    }

    /// Adds bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        self.flush();
        self.hasher.update(bytes);
    }

    /// The digest's first 16 digits.
    pub fn finish(mut self) -> String {
        self.flush();
        self.hasher.finalize().to_hex()[..DIGITS].to_string()
    }

    fn flush(&mut self) {
        self.hasher.update(&self.pending);
        self.pending.clear();
    }
}
