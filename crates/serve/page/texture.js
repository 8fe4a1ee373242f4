// The density as paint: each pixel of the canvas is asked where on Earth it is, so poles and the antimeridian need no care.

const TURN = 360;
// The colours of all maps, from little to much: crates/map/src/render/colour.rs.
const STEPS = [0xfcfea4, 0xf1e864, 0xf8c931, 0xfbaa0e, 0xf98c09, 0xf0701e, 0xe35832, 0xd04544, 0xba3655, 0xa12b61, 0x88216a, 0x6e186e, 0x550f6d, 0x3b0964];
const RAMP = Array.from({ length: 256 }, (_, height) => {
  const share = height / 255, at = 12 * share, from = STEPS[Math.floor(at)], to = STEPS[Math.floor(at) + 1], part = at % 1, soft = Math.min(1, share / 0.3);
  return [...[16, 8, 0].map((bit) => (1 - part) * (from >> bit & 255) + part * (to >> bit & 255)), 209 * soft * soft * (3 - 2 * soft)];
});

export class Texture {
  // From the answer's grid: log densities in 254 steps from the north west, row by row.
  constructor(grid) {
    Object.assign(this, grid);
    this.bytes = Uint8Array.from(atob(grid.values), (character) => character.charCodeAt(0));
    this.goesAround = grid.east - grid.west > TURN - 1e-6;
  }

  // The height at a place, 0 to 255, between the centres of four cells.
  at(lon, lat) {
    const { rows, columns, west, east, north, south } = this;
    const x = (((lon - west) % TURN + TURN) % TURN) / (east - west) * columns - 0.5;
    const y = (north - lat) / (north - south) * rows - 0.5;
    if (y < -1 || y > rows || (!this.goesAround && x > columns)) return 0;
    const column = Math.floor(x), row = Math.floor(y), right = x - column, down = y - row;
    return (1 - down) * ((1 - right) * this.cell(row, column) + right * this.cell(row, column + 1))
      + down * ((1 - right) * this.cell(row + 1, column) + right * this.cell(row + 1, column + 1));
  }

  cell(row, column) {
    const { rows, columns, goesAround } = this;
    if (goesAround) column = (column + columns) % columns;
    else if (column < 0 || column >= columns) return 0;
    // Beyond a pole is the pole; elsewhere the grid ends where there is nothing to see.
    if (row < 0) { if (this.north < 89.99) return 0; row = 0; }
    if (row >= rows) { if (this.south > -89.99) return 0; row = rows - 1; }
    return this.bytes[row * columns + column];
  }

  // Paints the canvas's pixels, `step` of them at a time; the last painting is kept for as long as nothing changes.
  paint(context, projection, width, height, step) {
    const key = [width, height, step, projection.scale(), ...projection.rotate(), ...projection.center()].join();
    if (key !== this.key) {
      const columns = Math.ceil(width / step), rows = Math.ceil(height / step);
      const image = new ImageData(columns, rows);
      for (let row = 0, at = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++, at += 4) {
          const place = projection.invert([(column + 0.5) * step, (row + 0.5) * step]);
          const height = place && place[0] === place[0] ? Math.round(this.at(place[0], place[1])) : 0;
          if (height > 0) image.data.set(RAMP[height], at);
        }
      }
      this.canvas ??= document.createElement("canvas");
      this.canvas.width = columns;
      this.canvas.height = rows;
      this.canvas.getContext("2d").putImageData(image, 0, 0);
      Object.assign(this, { key, painted: [columns * step, rows * step] });
    }
    context.imageSmoothingEnabled = true;
    context.drawImage(this.canvas, 0, 0, ...this.painted);
  }
}
