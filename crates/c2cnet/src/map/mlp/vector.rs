//! Loops over slices, compiled for the machine's widest vector instructions.

use super::scalar::Scalar;
use pulp::{Arch, NullaryFnOnce};

/// The number of partial sums, so that loops vectorise.
const LANES: usize = 16;

/// $a \cdot b$.
pub(in crate::map) fn dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    Arch::new().dispatch(Dot(a, b))
}

/// $a \leftarrow a - b$; returns $\|a - b\|^2$.
pub(super) fn subtract<T: Scalar>(a: &mut [T], b: &[T]) -> T {
    Arch::new().dispatch(Subtract(a, b))
}

/// $a \leftarrow sa$.
pub(super) fn scale<T: Scalar>(a: &mut [T], s: T) {
    a.iter_mut().for_each(|a| *a *= s);
}

/// $a_i \leftarrow a_ib_i$.
pub(in crate::map) fn multiply_by<T: Scalar>(a: &mut [T], b: &[T]) {
    Arch::new().dispatch(Each(
        a,
        b,
        #[inline(always)]
        |a: T, b: T| a * b,
    ));
}

/// $a \leftarrow a + sb$.
pub(in crate::map) fn add_multiple<T: Scalar>(a: &mut [T], b: &[T], s: T) {
    Arch::new().dispatch(Each(
        a,
        b,
        #[inline(always)]
        |a: T, b: T| a + s * b,
    ));
}

/// $t \leftarrow a + b$.
pub(super) fn add_into<T: Scalar>(t: &mut [T], a: &[T], b: &[T]) {
    Arch::new().dispatch(AddInto(t, a, b));
}

struct Dot<'a, T>(&'a [T], &'a [T]);

impl<T: Scalar> NullaryFnOnce for Dot<'_, T> {
    type Output = T;

    #[inline(always)]
    fn call(self) -> T {
        inline_dot(self.0, self.1)
    }
}

#[inline(always)]
fn inline_dot<T: Scalar>(a: &[T], b: &[T]) -> T {
    let mut sums = [T::default(); LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for i in 0..LANES {
            sums[i] += a[i] * b[i];
        }
    }
    let mut sum = T::default();
    for (a, b) in a_rest.iter().zip(b_rest) {
        sum += *a * *b;
    }
    for s in sums {
        sum += s;
    }
    sum
}

struct Subtract<'a, T>(&'a mut [T], &'a [T]);

impl<T: Scalar> NullaryFnOnce for Subtract<'_, T> {
    type Output = T;

    #[inline(always)]
    fn call(self) -> T {
        for (a, b) in self.0.iter_mut().zip(self.1) {
            *a -= *b;
        }
        inline_dot(self.0, self.0)
    }
}

struct Each<'a, T, F>(&'a mut [T], &'a [T], F);

impl<T: Scalar, F: Fn(T, T) -> T> NullaryFnOnce for Each<'_, T, F> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for (a, b) in self.0.iter_mut().zip(self.1) {
            *a = (self.2)(*a, *b);
        }
    }
}

struct AddInto<'a, T>(&'a mut [T], &'a [T], &'a [T]);

impl<T: Scalar> NullaryFnOnce for AddInto<'_, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for ((t, a), b) in self.0.iter_mut().zip(self.1).zip(self.2) {
            *t = *a + *b;
        }
    }
}
