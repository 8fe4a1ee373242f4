//! The choices that make a CS-UNet.

use crate::Result;
use locdiff_base::{named, setting};
use serde::{Deserialize, Serialize};

/// No size of a network is larger: a typing error shall not take all memory.
const WIDEST: usize = 1 << 20;
/// Blocks down, at most.
const DEEPEST: usize = 256;
/// Numbers of a network, at most: 8 GB of them.
pub(crate) const MOST_NUMBERS: usize = 1 << 31;

named! {
    /// How the blocks' widths go.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Layout: "layout" {
        /// `depth` blocks down from the hidden width to `width` in geometric steps and as many up again, the input of each
        /// way down concatenated to the output of the way up at the same width.
        #[default]
        Funnel = "funnel", "down to the narrow width and up again, with skips";
        /// The same blocks and skips, all of the hidden width.
        Constant = "constant", "all of one width, with skips";
        /// `2·depth` blocks in a row, each from the hidden width down to `width` (where time and image come in) and back up
        /// inside the block; no skips.
        Bottleneck = "bottleneck", "blocks that narrow inside, no skips";
    }
}

/// A CS-UNet's settings: `d` codes in, `d` out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CsUnetConfig {
    /// Size of the codes, (L+1)².
    pub code_dim: usize,
    /// Size of the image embedding.
    pub cond_dim: usize,
    /// Size of the sinusoidal time embedding, and of the hidden layer of each block's time MLP.
    pub time_dim: usize,
    /// Width after the first Linear; `None` for `code_dim`.
    pub hidden: Option<usize>,
    /// The narrowest width.
    pub width: usize,
    /// Blocks down, and as many up.
    pub depth: usize,
    /// How the widths go.
    pub layout: Layout,
    /// Share of values dropped before the sine in training.
    pub dropout: f32,
    /// The factor inside the sine.
    pub w0: f32,
    /// Inner widths of the funnel are rounded to multiples of this (8 keeps the tensor cores fast; 1 is the prototype).
    pub width_multiple: usize,
}

impl CsUnetConfig {
    /// The settings most accurate on validation, for codes of size `code_dim` and embeddings of size `cond_dim`.
    pub fn new(code_dim: usize, cond_dim: usize) -> Self {
        Self {
            code_dim,
            cond_dim,
            time_dim: 200,
            hidden: None,
            width: 128,
            depth: 3,
            layout: Layout::Funnel,
            dropout: 0.3,
            w0: 1.0,
            width_multiple: 8,
        }
    }

    pub(crate) fn hidden_width(&self) -> usize {
        self.hidden.unwrap_or(self.code_dim)
    }

    /// Widths from the hidden one down to the narrowest, `depth + 1` of them.
    pub fn widths(&self) -> Vec<usize> {
        let (hidden, depth) = (self.hidden_width(), self.depth);
        let width = |k: usize| match self.layout {
            Layout::Funnel if k == 0 => hidden,
            Layout::Funnel if k == depth => self.width,
            Layout::Funnel => {
                let ratio = self.width as f64 / hidden as f64;
                let exact = hidden as f64 * ratio.powf(k as f64 / depth as f64);
                let multiple = self.width_multiple.max(1) as f64;
                ((exact / multiple).round_ties_even().max(1.0) * multiple) as usize
            }
            Layout::Constant | Layout::Bottleneck => hidden,
        };
        (0..=depth).map(width).collect()
    }

    /// [`crate::NnError::Setting`] for a size of 0, an odd `time_dim` or a dropout outside [0, 1).
    pub(crate) fn check(&self) -> Result<()> {
        let sizes = [
            ("code_dim", self.code_dim),
            ("cond_dim", self.cond_dim),
            ("time_dim", self.time_dim),
            ("hidden", self.hidden_width()),
            ("width", self.width),
            ("depth", self.depth),
        ];
        if let Some((what, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(setting(what, 0, "at least 1"));
        }
        // Before anything is allocated, and so that no product of sizes overflows.
        let multiple = [("width_multiple", self.width_multiple)];
        let mut widths = sizes[..5].iter().chain(&multiple);
        if let Some((what, size)) = widths.find(|(_, size)| *size > WIDEST) {
            return Err(setting(what, size, format!("at most {WIDEST}")));
        }
        if self.depth > DEEPEST {
            Err(setting("depth", self.depth, format!("at most {DEEPEST}")))
        } else if !self.w0.is_finite() {
            Err(setting("w0", self.w0, "a finite number"))
        } else if !self.time_dim.is_multiple_of(2) {
            Err(setting("time_dim", self.time_dim, "an even number"))
        } else if !(0.0..1.0).contains(&self.dropout) {
            Err(setting("dropout", self.dropout, "0 ≤ dropout < 1"))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ParamsBuilder;

    #[test]
    fn widths_are_those_of_the_prototype() {
        let base = CsUnetConfig::new(576, 768);
        assert_eq!(CsUnetConfig { width_multiple: 1, ..base }.widths(), [576, 349, 211, 128]);
        assert_eq!(base.widths(), [576, 352, 208, 128]);
        assert_eq!(CsUnetConfig::new(2304, 768).widths(), [2304, 880, 336, 128]);
        assert_eq!(CsUnetConfig { layout: Layout::Constant, hidden: Some(96), ..base }.widths(), [96; 4]);
    }

    #[test]
    fn bad_settings_are_named() {
        let mut builder = ParamsBuilder::new();
        let good = CsUnetConfig::new(4, 4);
        for (config, what) in [
            (CsUnetConfig { width: 0, ..good }, "width"),
            (CsUnetConfig { time_dim: 5, ..good }, "time_dim"),
            (CsUnetConfig { dropout: 1.0, ..good }, "dropout"),
            (CsUnetConfig { width: 1_000_000_000_000, ..good }, "width = 1000000000000"),
            (CsUnetConfig { hidden: Some(usize::MAX), ..good }, "hidden"),
            (CsUnetConfig { depth: usize::MAX, ..good }, "depth"),
            (CsUnetConfig { width_multiple: usize::MAX, ..good }, "width_multiple"),
            (CsUnetConfig { w0: f32::INFINITY, ..good }, "w0"),
            (CsUnetConfig::new(262_144, 4), "numbers of the network"),
        ] {
            let message = config.register(&mut builder).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(message.contains(what), "{message}");
        }
    }
}
