//! The shapes of the EfficientNet-Lite family.

use crate::{Result, VisionError};

/// Blocks of one shape in a row; the first of them has the stride.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// Number of blocks.
    pub repeat: usize,
    /// Side of the depthwise kernel: 3 or 5.
    pub kernel: usize,
    /// Step of the first block's depthwise convolution: 1 or 2.
    pub stride: usize,
    /// Inner channels for each channel that comes in; 1 leaves out the expanding convolution.
    pub expand: usize,
    /// Channels that leave.
    pub out: usize,
}

/// Everything but the weights of an EfficientNet-Lite with a linear layer on top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EfficientNetLiteConfig {
    /// Channels after the first convolution.
    pub stem: usize,
    /// The stages, from input to output.
    pub stages: Vec<Stage>,
    /// Channels of the last convolution.
    pub head: usize,
    /// Values of an embedding.
    pub embedding: usize,
}

impl EfficientNetLiteConfig {
    /// Lite0 … Lite4 as published: stem, head and the number of blocks of the first and the last stage are those of
    /// Lite0; widths are rounded to multiples of 8, losing at most a tenth. Fails above 4, or for an empty embedding.
    pub fn lite(version: usize, embedding: usize) -> Result<Self> {
        // repeat, kernel, stride, expand, out
        const LITE0: [[usize; 5]; 7] = [
            [1, 3, 1, 1, 16],
            [2, 3, 2, 6, 24],
            [2, 5, 2, 6, 40],
            [3, 3, 2, 6, 80],
            [3, 5, 1, 6, 112],
            [4, 5, 2, 6, 192],
            [1, 3, 1, 6, 320],
        ];
        const WIDTH_DEPTH: [(f64, f64); 5] = [(1.0, 1.0), (1.0, 1.1), (1.1, 1.2), (1.2, 1.4), (1.4, 1.8)];
        let Some(&(width, depth)) = WIDTH_DEPTH.get(version) else {
            return Err(VisionError::Architecture(format!("the version Lite{version}: choose Lite0 … Lite4")));
        };
        let last = LITE0.len() - 1;
        let stage = |(i, &[repeat, kernel, stride, expand, out]): (usize, &[usize; 5])| {
            let repeat = if i == 0 || i == last { repeat } else { (depth * repeat as f64).ceil() as usize };
            Stage { repeat, kernel, stride, expand, out: scaled_channels(out, width) }
        };
        let stages = LITE0.iter().enumerate().map(stage).collect();
        let config = Self { stem: 32, stages, head: 1280, embedding };
        config.check()?;
        Ok(config)
    }

    /// Refuses shapes the network has no meaning or no kernel for.
    pub(crate) fn check(&self) -> Result<()> {
        let bad = |what: &str| Err(VisionError::Architecture(what.to_owned()));
        if self.stem == 0 || self.head == 0 || self.embedding == 0 {
            return bad("a layer of 0 channels: give stem, head and embedding at least 1");
        }
        for stage in &self.stages {
            match stage {
                Stage { kernel, .. } if !matches!(kernel, 3 | 5) => return bad("a depthwise kernel other than 3 or 5"),
                Stage { stride, .. } if !matches!(stride, 1 | 2) => return bad("a stride other than 1 or 2"),
                Stage { expand: 0, .. } | Stage { out: 0, .. } => return bad("a stage of expansion or width 0"),
                _ => {}
            }
        }
        Ok(())
    }
}

fn scaled_channels(channels: usize, width: f64) -> usize {
    const DIVISOR: f64 = 8.0;
    let scaled = channels as f64 * width;
    let rounded = ((scaled / DIVISOR + 0.5).floor() * DIVISOR).max(DIVISOR);
    (if rounded < 0.9 * scaled { rounded + DIVISOR } else { rounded }) as usize
}

#[cfg(test)]
mod tests {
    use super::EfficientNetLiteConfig;

    /// Parameters with batch norms and a classifier of 1000 classes, as they are published.
    fn parameters(config: &EfficientNetLiteConfig) -> usize {
        let norm = |channels: usize| 2 * channels;
        let mut count = 27 * config.stem + norm(config.stem);
        let mut channels = config.stem;
        for stage in &config.stages {
            for _ in 0..stage.repeat {
                let inner = channels * stage.expand;
                count += if stage.expand == 1 { 0 } else { channels * inner + norm(inner) };
                count += inner * stage.kernel * stage.kernel + norm(inner) + inner * stage.out + norm(stage.out);
                channels = stage.out;
            }
        }
        count + channels * config.head + norm(config.head) + config.head * 1000 + 1000
    }

    #[test]
    fn the_family_has_its_published_sizes() {
        for (variant, millions) in [4.7, 5.4, 6.1, 8.2, 13.0].into_iter().enumerate() {
            let count = parameters(&EfficientNetLiteConfig::lite(variant, 1).unwrap());
            assert!((count as f64 / 1e6 - millions).abs() <= 0.05, "Lite{variant}: {count}");
        }
        assert!(EfficientNetLiteConfig::lite(5, 1).is_err());
    }
}
