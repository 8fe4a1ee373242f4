//! The times of a batch's rows.

use crate::{
    Device, Result, Tensor, View, ViewMut,
    ops::{self, RowGroups},
};

/// Which rows of a workspace hold what depends on the time alone: on CUDA one for each row of the batch, on the CPU one
/// for each different time.
pub(crate) struct Times {
    groups: Option<RowGroups>,
    /// The different times first.
    values: Tensor,
    count: usize,
}

impl Times {
    pub(crate) fn new(device: &Device, batch: usize) -> Result<Self> {
        let groups = (!device.is_cuda()).then(RowGroups::default);
        Ok(Self { groups, values: Tensor::zeros(device, batch, 1)?, count: batch })
    }

    /// Takes the times of a batch, batch × 1.
    pub(crate) fn set(&mut self, t: View<'_>) -> Result<()> {
        let Some(groups) = &mut self.groups else { return Ok(()) };
        self.values.view().expect_shape("times", "t", t.rows(), 1)?;
        let t = t.cpu("times")?;
        let values: Vec<f32> = (0..t.rows).map(|r| t.row(r)[0]).collect();
        let distinct = groups.set(&values);
        self.count = distinct.len();
        for (r, value) in distinct.into_iter().enumerate() {
            self.values.view_mut().cpu("times")?.row(r)[0] = value;
        }
        Ok(())
    }

    /// The times that count, of those last set.
    pub(crate) fn values<'a>(&'a self, t: View<'a>) -> View<'a> {
        if self.groups.is_none() { t } else { self.of(&self.values) }
    }

    /// The rows of the times that count.
    pub(crate) fn of<'a>(&self, tensor: &'a Tensor) -> View<'a> {
        tensor.view().row_range(0..self.count)
    }

    /// Those rows, to be written.
    pub(crate) fn of_mut<'a>(&self, tensor: &'a mut Tensor) -> ViewMut<'a> {
        tensor.view_mut().row_range(0..self.count)
    }

    pub(crate) fn film(&self, h: ViewMut<'_>, hx: View<'_>, ss: View<'_>, hi: View<'_>) -> Result<()> {
        match &self.groups {
            None => ops::film(h, hx, ss, hi),
            Some(groups) => ops::film_by_group(h, hx, ss, hi, groups),
        }
    }

    pub(crate) fn film_backward(
        &self,
        dhx: ViewMut<'_>,
        dss: ViewMut<'_>,
        dh: View<'_>,
        hx: View<'_>,
        ss: View<'_>,
    ) -> Result<()> {
        match &self.groups {
            None => ops::film_backward(dhx, dss, dh, hx, ss),
            Some(groups) => ops::film_by_group_backward(dhx, dss, dh, hx, ss, groups),
        }
    }
}
