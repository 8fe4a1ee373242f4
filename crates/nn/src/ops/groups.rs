//! Rows that share one row of another matrix.

use super::elementwise::film_row;
use crate::kernel_args::expect_shapes;
use crate::{Result, View, ViewMut, cpu::for_rows, cpu::simd::simd_kernel, error::check_shape};

/// On the CPU: which rows of a batch have the same time. What depends on the time alone is computed once for each time, of which
/// there are fewer than rows in a training batch.
#[derive(Debug, Clone, Default)]
pub(crate) struct RowGroups {
    /// The group of every row.
    of_row: Vec<u32>,
    /// The rows, group by group and in order within each.
    members: Vec<u32>,
    /// Where a group begins among the members; one more at the end.
    starts: Vec<u32>,
}

impl RowGroups {
    /// Groups of equal values, in rising order; returns the value of each.
    pub(crate) fn set(&mut self, values: &[f32]) -> Vec<f32> {
        self.members.clear();
        self.members.extend(0..values.len() as u32);
        self.members.sort_by(|a, b| values[*a as usize].total_cmp(&values[*b as usize]));
        self.of_row.resize(values.len(), 0);
        self.starts.clear();
        let mut distinct: Vec<f32> = Vec::new();
        for (at, row) in self.members.iter().enumerate() {
            let value = values[*row as usize];
            if distinct.last().is_none_or(|last| last.to_bits() != value.to_bits()) {
                distinct.push(value);
                self.starts.push(at as u32);
            }
            self.of_row[*row as usize] = distinct.len() as u32 - 1;
        }
        self.starts.push(values.len() as u32);
        distinct
    }

    fn members(&self, group: usize) -> &[u32] {
        &self.members[self.starts[group] as usize..self.starts[group + 1] as usize]
    }

    fn check(&self, op: &'static str, rows: usize, groups: usize) -> Result<()> {
        check_shape(self.of_row.len() == rows && self.starts.len() == groups + 1, op, || {
            format!("{} rows in groups for {rows}, {groups} groups", self.of_row.len())
        })
    }
}

simd_kernel! {
    fn film_input_gradient(dhx: &mut [f32], dh: &[f32], scale: &[f32]) {
        let n = dhx.len();
        let (dh, scale) = (&dh[..n], &scale[..n]);
        for i in 0..n { dhx[i] = dh[i] * (1.0 + scale[i]); }
    }

    fn add_film_gradient(d_scale: &mut [f32], d_shift: &mut [f32], dh: &[f32], hx: &[f32]) {
        let n = d_scale.len();
        let (d_shift, dh, hx) = (&mut d_shift[..n], &dh[..n], &hx[..n]);
        for i in 0..n {
            d_scale[i] = dh[i].mul_add(hx[i], d_scale[i]);
            d_shift[i] += dh[i];
        }
    }
}

/// [`super::film`] on the CPU with one row of `ss` for each group of rows.
pub(crate) fn film_by_group(
    h: ViewMut<'_>,
    hx: View<'_>,
    ss: View<'_>,
    hi: View<'_>,
    groups: &RowGroups,
) -> Result<()> {
    const OP: &str = "film";
    expect_shapes!(OP, h.rows, h.cols; hx, hi);
    expect_shapes!(OP, ss.rows, 2 * h.cols; ss);
    groups.check(OP, h.rows, ss.rows)?;
    let (hx, ss, hi) = (hx.cpu(OP)?, ss.cpu(OP)?, hi.cpu(OP)?);
    for_rows(h.cpu(OP)?, |r, h| {
        let (scale, shift) = ss.row(groups.of_row[r] as usize).split_at(h.len());
        film_row(h, hx.row(r), scale, shift, hi.row(r));
    });
    Ok(())
}

/// Gradients of [`film_by_group`]: those of a group's row of `ss` are the sums over its rows, in their order.
pub(crate) fn film_by_group_backward(
    dhx: ViewMut<'_>,
    dss: ViewMut<'_>,
    dh: View<'_>,
    hx: View<'_>,
    ss: View<'_>,
    groups: &RowGroups,
) -> Result<()> {
    const OP: &str = "film_backward";
    expect_shapes!(OP, dhx.rows, dhx.cols; dh, hx);
    expect_shapes!(OP, ss.rows, 2 * dhx.cols; ss, dss);
    groups.check(OP, dhx.rows, ss.rows)?;
    let (dh, hx, ss) = (dh.cpu(OP)?, hx.cpu(OP)?, ss.cpu(OP)?);
    for_rows(dhx.cpu(OP)?, |r, dhx| film_input_gradient(dhx, dh.row(r), ss.row(groups.of_row[r] as usize)));
    for_rows(dss.cpu(OP)?, |group, dss| {
        dss.fill(0.0);
        let (d_scale, d_shift) = dss.split_at_mut(dh.cols);
        for row in groups.members(group) {
            add_film_gradient(d_scale, d_shift, dh.row(*row as usize), hx.row(*row as usize));
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As if every row had its own copy of its group's row, whose gradients are summed afterwards.
    #[test]
    fn a_group_is_its_rows_taken_together() {
        use crate::{Device, Tensor, ops};
        let device = Device::cpu();
        let (rows, cols) = (9, 5);
        let tensor = |rows: usize, cols: usize, salt: usize| {
            let values = (0..rows * cols).map(|i| ((i * 37 + salt * 11) % 23) as f32 / 23.0 - 0.4);
            Tensor::from_slice(&device, rows, cols, &values.collect::<Vec<_>>()).unwrap()
        };
        let mut groups = RowGroups::default();
        let count = groups.set(&[2.0, 1.0, 2.0, 2.0, 0.0, 1.0, 7.0, 0.0, 2.0]).len();
        let (hx, hi, dh) = (tensor(rows, cols, 1), tensor(rows, cols, 2), tensor(rows, cols, 3));
        let ss = tensor(count, 2 * cols, 4);
        let own = ss.to_vec().unwrap();
        let each: Vec<f32> =
            groups.of_row.iter().flat_map(|g| own[*g as usize * 2 * cols..][..2 * cols].to_vec()).collect();
        let each = Tensor::from_slice(&device, rows, 2 * cols, &each).unwrap();
        let zeros = |rows: usize, cols: usize| Tensor::zeros(&device, rows, cols).unwrap();
        let (mut h, mut expected) = (zeros(rows, cols), zeros(rows, cols));
        film_by_group(h.view_mut(), hx.view(), ss.view(), hi.view(), &groups).unwrap();
        ops::film(expected.view_mut(), hx.view(), each.view(), hi.view()).unwrap();
        assert_eq!(h.to_vec().unwrap(), expected.to_vec().unwrap());
        let (mut dhx, mut dss) = (zeros(rows, cols), zeros(count, 2 * cols));
        let (d_out, hx) = (dh.view(), hx.view());
        film_by_group_backward(dhx.view_mut(), dss.view_mut(), d_out, hx, ss.view(), &groups).unwrap();
        let (mut dhx_each, mut dss_each) = (zeros(rows, cols), zeros(rows, 2 * cols));
        ops::film_backward(dhx_each.view_mut(), dss_each.view_mut(), d_out, hx, each.view()).unwrap();
        assert_eq!(dhx.to_vec().unwrap(), dhx_each.to_vec().unwrap());
        let (dss, dss_each) = (dss.to_vec().unwrap(), dss_each.to_vec().unwrap());
        for (at, sum) in dss.iter().enumerate() {
            let (group, c) = (at / (2 * cols), at % (2 * cols));
            let expected: f32 = groups.members(group).iter().map(|r| dss_each[*r as usize * 2 * cols + c]).sum();
            assert!((sum - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn rows_of_one_value_are_one_group() {
        let mut groups = RowGroups::default();
        for _ in 0..2 {
            assert_eq!(groups.set(&[3.0, 1.0, 3.0, 2.0, 1.0, 3.0]), [1.0, 2.0, 3.0]);
            assert_eq!(groups.of_row, [2, 0, 2, 1, 0, 2]);
            assert_eq!([0, 1, 2].map(|group| groups.members(group)), [&[1, 4][..], &[3], &[0, 2, 5]]);
        }
        assert_eq!(groups.set(&[7.0]), [7.0]);
        assert_eq!(groups.members(0), [0]);
    }
}
