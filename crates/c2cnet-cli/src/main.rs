mod figure;

fn main() {}
