//! Pixels lumped together: their mass and its centre.

use locdiff_shdd::sphere::UnitVec;

/// The mass of pixels and the sum of their centres, weighed by mass.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lump {
    pub(crate) at: [f64; 3],
    pub(crate) mass: f64,
}

impl Lump {
    /// Adds other moments.
    pub(crate) fn add(&mut self, moments: Self) {
        self.mass += moments.mass;
        self.at.iter_mut().zip(moments.at).for_each(|(sum, x)| *sum += x);
    }

    /// Its centre of mass on the sphere. `None` for a lump without mass.
    pub(crate) fn point(&self) -> Option<UnitVec> {
        UnitVec::new(self.at[0], self.at[1], self.at[2]).ok()
    }
}

/// Adds moments to the last lump, or to a new one. Pixels are in nested order: those of one parent follow one another.
pub(crate) fn add(lumps: &mut Vec<(u64, Lump)>, parent: u64, moments: Lump) {
    match lumps.last_mut() {
        Some((last, lump)) if *last == parent => lump.add(moments),
        _ => lumps.push((parent, moments)),
    }
}
