// The density as paint: each pixel of the canvas is asked where on Earth it is, so poles and the antimeridian need no care.

const TURN = 360;

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
  paint(context, projection, width, height, colour, step) {
    const key = [width, height, colour, step, projection.scale(), ...projection.rotate(), ...projection.center()].join();
    if (key !== this.key) {
      const columns = Math.ceil(width / step), rows = Math.ceil(height / step);
      const [red, green, blue] = colour.split(" ").map(Number);
      const image = new ImageData(columns, rows);
      for (let row = 0, at = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++, at += 4) {
          const place = projection.invert([(column + 0.5) * step, (row + 0.5) * step]);
          const height = place && place[0] === place[0] ? this.at(place[0], place[1]) / 255 : 0;
          if (height <= 0) continue;
          image.data[at] = red;
          image.data[at + 1] = green;
          image.data[at + 2] = blue;
          image.data[at + 3] = 205 * height ** 2.2;
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
