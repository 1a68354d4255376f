//! Cells of meshes.

/// The two triangles of each quadrilateral, whose corners are given in order around it.
pub fn split_quads(quads: &[[usize; 4]]) -> impl Iterator<Item = [usize; 3]> {
    quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_of_a_quadrilateral_turn_the_same_way() {
        let halves: Vec<[usize; 3]> = split_quads(&[[4, 5, 6, 7]]).collect();
        assert_eq!(halves, [[4, 5, 6], [4, 6, 7]]);
    }
}
