//! One NumPy array, read from the bytes of a `.npy` file.

use npyz::{DType, Endianness, NpyHeader, Order, TypeChar, TypeStr};
use std::io::Read;

/// Values in C order: the last axis varies fastest.
#[derive(Debug)]
pub(in crate::data) struct Array {
    pub shape: Vec<usize>,
    pub values: Values,
}

#[derive(Debug)]
pub(in crate::data) enum Values {
    Floats(Vec<f64>),
    /// Real and imaginary part of each entry.
    Complex(Vec<[f64; 2]>),
    Integers(Vec<i64>),
    Text(Vec<String>),
}

/// What the header of an array says, before any values are read.
#[derive(Debug)]
pub(in crate::data) struct Header {
    pub shape: Vec<usize>,
    pub kind: Kind,
    dtype: TypeStr,
    order: Order,
    /// How many entries, and how many bytes all of them have.
    count: usize,
    size: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::data) enum Kind {
    Floats,
    Complex,
    Integers,
    Text,
}

impl Header {
    /// Reads the header of a `.npy` stream of `available` bytes; on failure says why. Its claims are checked against
    /// those bytes, so that nothing is allocated for entries that do not exist.
    pub fn read(reader: &mut dyn Read, available: u64) -> Result<Header, String> {
        let (header, length) = read_header(reader)?;
        let DType::Plain(dtype) = header.dtype() else {
            return Err("holds structured records; save each column as a separate array".into());
        };
        let kind = kind_of(&dtype)?;
        let shape: Vec<usize> = header.shape().iter().map(|&s| s as usize).collect();
        let count: usize = shape.iter().product();
        let width = dtype.num_bytes().unwrap_or(usize::MAX);
        if width == 0 && count > 0 {
            return Err(format!(
                "has dtype {dtype}, {count} empty strings; save it as np.array([...], dtype='U1')"
            ));
        }
        let size = (width as u64).saturating_mul(count as u64);
        let available = available.saturating_sub(length);
        if size > available {
            let there = available / width as u64;
            return Err(format!(
                "is cut short: its shape {} needs {count} entries, and there are {there} of {count}",
                shown(&shape)
            ));
        }
        if size < available {
            return Err(format!(
                "holds more data than its shape {} needs",
                shown(&shape)
            ));
        }
        Ok(Header {
            order: header.order(),
            shape,
            kind,
            dtype,
            count,
            size,
        })
    }

    /// Refuses arrays without numbers.
    pub(crate) fn check_numbers(&self) -> Result<(), String> {
        match self.kind {
            Kind::Floats | Kind::Integers => Ok(()),
            Kind::Complex => Err(COMPLEX.into()),
            Kind::Text => Err("holds text where numbers are needed".into()),
        }
    }

    /// Whether there is one entry, of no more than `most` bytes.
    pub(crate) fn is_one(&self, most: u64) -> bool {
        self.count == 1 && self.size <= most
    }
}

fn kind_of(dtype: &TypeStr) -> Result<Kind, String> {
    match dtype.type_char() {
        TypeChar::Float => Ok(Kind::Floats),
        TypeChar::Int | TypeChar::Uint | TypeChar::Bool => Ok(Kind::Integers),
        TypeChar::UnicodeStr | TypeChar::ByteStr => Ok(Kind::Text),
        TypeChar::Object => Err(OBJECTS.into()),
        TypeChar::Complex => Ok(Kind::Complex),
        _ => Err(format!(
            "has dtype {dtype}; convert it to floats or integers first, as with .astype('f8')"
        )),
    }
}

/// What is said of Python objects, such as lists of different lengths.
pub(super) const OBJECTS: &str = "is an object array, which NumPy pickles; c2cnet does not read pickles. Put \
                                  samples of different lengths, padded, into one array with `x_count` or `y_count`";

impl Array {
    /// Reads the entries that follow a header, to the end of the stream; on failure says why.
    pub fn read(reader: &mut dyn Read, header: Header) -> Result<Array, String> {
        let Header {
            shape,
            kind,
            dtype,
            order,
            count,
            ..
        } = header;
        let values = match kind {
            Kind::Floats => Values::Floats(c_order(order, &shape, floats(reader, &dtype, count)?)),
            Kind::Complex => {
                Values::Complex(c_order(order, &shape, complex(reader, &dtype, count)?))
            }
            Kind::Integers => {
                Values::Integers(c_order(order, &shape, integers(reader, &dtype, count)?))
            }
            Kind::Text => Values::Text(c_order(order, &shape, text(reader, &dtype, count)?)),
        };
        // Reading to the end also makes a zip entry verify its checksum.
        match reader.read(&mut [0]) {
            Ok(0) => Ok(Array { shape, values }),
            Ok(_) => Err(format!(
                "holds more data than its shape {} needs",
                shown(&shape)
            )),
            Err(e) => Err(format!("is damaged ({e})")),
        }
    }

    /// The values as floats; integers are converted.
    pub(crate) fn into_floats(self) -> Result<Vec<f64>, String> {
        match self.values {
            Values::Floats(values) => Ok(values),
            Values::Complex(_) => Err(COMPLEX.into()),
            Values::Integers(values) => Ok(values.into_iter().map(|v| v as f64).collect()),
            Values::Text(_) => Err("holds text where numbers are needed".into()),
        }
    }

    /// The values as integers; floats are refused.
    pub(crate) fn into_integers(self) -> Result<Vec<i64>, String> {
        match self.values {
            Values::Integers(values) => Ok(values),
            Values::Floats(_) | Values::Complex(_) => {
                Err("holds floats where integers are needed; use .astype('i8')".into())
            }
            Values::Text(_) => Err("holds text where integers are needed".into()),
        }
    }
}

/// A shape as NumPy writes it: `(3, 4)`, `(3,)`, `()`.
pub(super) fn shown(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        _ => {
            let parts: Vec<String> = shape.iter().map(usize::to_string).collect();
            format!("({})", parts.join(", "))
        }
    }
}

/// The header, after checks that the parser itself omits, and how many bytes it has.
fn read_header(reader: &mut dyn Read) -> Result<(NpyHeader, u64), String> {
    let damaged = |e: &dyn std::fmt::Display| format!("is not a NumPy array or is damaged ({e})");
    let mut bytes = vec![0; 8];
    reader.read_exact(&mut bytes).map_err(|e| damaged(&e))?;
    let size_width = if bytes[6] == 1 { 2 } else { 4 };
    let mut size = [0; 4];
    reader
        .read_exact(&mut size[..size_width])
        .map_err(|e| damaged(&e))?;
    bytes.extend_from_slice(&size[..size_width]);
    let length = u32::from_le_bytes(size) as usize;
    if !bytes.starts_with(b"\x93NUMPY") || length > 1 << 16 {
        return Err(damaged(&"no NumPy header"));
    }
    let start = bytes.len();
    bytes.resize(start + length, 0);
    reader
        .read_exact(&mut bytes[start..])
        .map_err(|e| damaged(&e))?;
    // Deep nesting could exhaust the parser's stack, and huge axes overflow its products: a plain
    // array has one dict, one tuple and, if it fits in any memory, fewer than 18 digits of shape.
    let text = String::from_utf8_lossy(&bytes[start..]);
    if text.contains("M8[") || text.contains("m8[") {
        return Err(
            "holds dates or times; save numbers, such as (t - t[0]) / np.timedelta64(1, 's')"
                .into(),
        );
    }
    if text.contains('[') {
        return Err("holds structured records; save each column as a separate array".into());
    }
    let shape = text.split_once('(').map_or("", |(_, rest)| rest);
    let digits = shape.chars().filter(char::is_ascii_digit).count();
    if text.matches(['(', '{']).count() != 2 || digits > 18 {
        return Err(damaged(&format!("header {}", text.trim_end())));
    }
    let header = NpyHeader::from_reader(&bytes[..]).map_err(|e| damaged(&e))?;
    Ok((header, bytes.len() as u64))
}

fn floats(reader: &mut dyn Read, dtype: &TypeStr, count: usize) -> Result<Vec<f64>, String> {
    match dtype.size_field() {
        8 => numbers(reader, dtype, count, f64::from_le_bytes),
        4 => numbers(reader, dtype, count, |b| f64::from(f32::from_le_bytes(b))),
        2 => numbers(reader, dtype, count, |b| half(u16::from_le_bytes(b))),
        _ => Err(format!(
            "has dtype {dtype}; floats of 2, 4 or 8 bytes are read, so use .astype('f8')"
        )),
    }
}

/// A float of half precision: a sign, five bits of an exponent, ten of a fraction.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// The message where only real numbers make sense.
const COMPLEX: &str = "is complex; only values `f` and `u` may be complex, so save its real part";

fn complex(reader: &mut dyn Read, dtype: &TypeStr, count: usize) -> Result<Vec<[f64; 2]>, String> {
    match dtype.size_field() {
        16 => numbers(reader, dtype, 2 * count, f64::from_le_bytes),
        8 => numbers(reader, dtype, 2 * count, |b| {
            f64::from(f32::from_le_bytes(b))
        }),
        _ => Err(format!(
            "has dtype {dtype}; complex numbers of 8 or 16 bytes are read, so use .astype('c16')"
        )),
    }
    .map(|parts: Vec<f64>| parts.as_chunks::<2>().0.to_vec())
}

fn integers(reader: &mut dyn Read, dtype: &TypeStr, count: usize) -> Result<Vec<i64>, String> {
    match (dtype.type_char(), dtype.size_field()) {
        (TypeChar::Int, 1) => numbers(reader, dtype, count, |b| i8::from_le_bytes(b).into()),
        (TypeChar::Int, 2) => numbers(reader, dtype, count, |b| i16::from_le_bytes(b).into()),
        (TypeChar::Int, 4) => numbers(reader, dtype, count, |b| i32::from_le_bytes(b).into()),
        (TypeChar::Int, 8) => numbers(reader, dtype, count, i64::from_le_bytes),
        (_, 1) => numbers(reader, dtype, count, |b| u8::from_le_bytes(b).into()),
        (_, 2) => numbers(reader, dtype, count, |b| u16::from_le_bytes(b).into()),
        (_, 4) => numbers(reader, dtype, count, |b| u32::from_le_bytes(b).into()),
        // No array is that long: what exceeds i64 is outside any range it is checked against.
        (_, 8) => numbers(reader, dtype, count, |b| {
            i64::try_from(u64::from_le_bytes(b)).unwrap_or(i64::MAX)
        }),
        _ => Err(format!("has the unknown dtype {dtype}")),
    }
}

/// Decodes `count` numbers of `WIDTH` bytes, a chunk at a time.
fn numbers<T, const WIDTH: usize>(
    reader: &mut dyn Read,
    dtype: &TypeStr,
    count: usize,
    decode: impl Fn([u8; WIDTH]) -> T,
) -> Result<Vec<T>, String> {
    let big = dtype.endianness() == Endianness::Big;
    let mut values = Vec::new();
    values
        .try_reserve_exact(count)
        .map_err(|_| format!("has {count} entries, more than fit in memory"))?;
    let mut chunk = vec![0; WIDTH * 8192];
    while values.len() < count {
        let take = WIDTH * (count - values.len()).min(8192);
        fill(reader, &mut chunk[..take], values.len(), count)?;
        let (items, _) = chunk[..take].as_chunks::<WIDTH>();
        values.extend(items.iter().map(|&item| {
            let mut item = item;
            if big {
                item.reverse();
            }
            decode(item)
        }));
    }
    Ok(values)
}

fn text(reader: &mut dyn Read, dtype: &TypeStr, count: usize) -> Result<Vec<String>, String> {
    let width = dtype.num_bytes().unwrap_or(usize::MAX);
    let big = dtype.endianness() == Endianness::Big;
    let mut values = Vec::new();
    for k in 0..count {
        let mut bytes = Vec::new();
        match (&mut *reader).take(width as u64).read_to_end(&mut bytes) {
            Ok(n) if n == width => {}
            Ok(_) => return Err(cut_short(k, count)),
            Err(e) => return Err(format!("is damaged ({e})")),
        }
        let value = if dtype.type_char() == TypeChar::ByteStr {
            String::from_utf8(bytes).map_err(|_| "holds bytes that are not UTF-8".to_string())?
        } else {
            let (codes, _) = bytes.as_chunks::<4>();
            codes
                .iter()
                .map(|&c| {
                    char::from_u32(if big {
                        u32::from_be_bytes(c)
                    } else {
                        u32::from_le_bytes(c)
                    })
                })
                .collect::<Option<String>>()
                .ok_or_else(|| "holds text that is not Unicode".to_string())?
        };
        // NumPy pads with zeros to the longest string of the array.
        values.push(value.trim_end_matches('\0').to_string());
    }
    Ok(values)
}

fn fill(reader: &mut dyn Read, chunk: &mut [u8], done: usize, count: usize) -> Result<(), String> {
    reader.read_exact(chunk).map_err(|e| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => cut_short(done, count),
        _ => format!("is damaged ({e})"),
    })
}

fn cut_short(done: usize, count: usize) -> String {
    format!("is cut short: it ends soon after entry {done} of {count}")
}

/// Reorders values stored with the first axis varying fastest.
fn c_order<T: Clone>(order: Order, shape: &[usize], values: Vec<T>) -> Vec<T> {
    if order == Order::C || shape.len() < 2 || values.is_empty() {
        return values;
    }
    let mut strides = vec![1; shape.len()];
    for axis in 1..shape.len() {
        strides[axis] = strides[axis - 1] * shape[axis - 1];
    }
    let mut index = vec![0; shape.len()];
    let mut offset = 0;
    let mut out = Vec::with_capacity(values.len());
    loop {
        out.push(values[offset].clone());
        // Increment the indices, last axis first.
        let mut axis = shape.len();
        loop {
            if axis == 0 {
                return out;
            }
            axis -= 1;
            index[axis] += 1;
            offset += strides[axis];
            if index[axis] < shape[axis] {
                break;
            }
            offset -= strides[axis] * shape[axis];
            index[axis] = 0;
        }
    }
}
