fn main() {
    let a: Vec<String> = std::env::args().collect();
    let t = std::time::Instant::now();
    let s = maps::Source::read(a[1].as_ref()).unwrap();
    let c =
        maps::compile(&s, &maps::Spaces::default(), &maps::Options::default(), &mut |_, _, _| ())
            .unwrap();
    println!("{:?} {:?} {:?}", t.elapsed(), c.report.polygons, c.world.counts());
    println!(
        "{} brushes {} solids {} bytes",
        c.report.brushes,
        c.report.solids,
        c.world.to_bytes().len()
    );
    for w in c.report.warnings {
        println!("{w}");
    }
}
