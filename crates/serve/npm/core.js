// The module and its model on the thread that calls: bytes in, bytes out. A photo that brings the module down costs a new one,
// and nothing else.

// A module of one function that uses a relaxed multiply-add: whether the engine knows these instructions.
const RELAXED = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 8, 1, 96, 3, 123, 123, 123, 1, 123, 3, 2, 1, 0, 10, 13, 1, 11, 0, 32, 0, 32, 1, 32, 2, 253, 133, 2, 11]);

// Which of the two builds this engine takes: the first rounds sums of products once, as other machines do.
export const build = () => (WebAssembly.validate(RELAXED) ? "relaxed" : "simd128");

const words = new TextEncoder(), read = new TextDecoder();
// A module grows for a large photo and cannot shrink: above this it is replaced when it has answered.
const MOST_BYTES = 768 * 2 ** 20;

export class Core {
  // `module` is compiled; `files` are the bytes of encoder.json, its weights, config.json, its weights, calibration.json.
  static async open(module, files) {
    const core = Object.assign(new Core(), { module, files });
    await core.start();
    return core;
  }

  async start() {
    this.exports = null;
    const { exports } = await WebAssembly.instantiate(this.module, {});
    if (this.call(exports, "open", this.files).status !== 200) throw new Error("the model's files do not fit this module");
    this.exports = exports;
  }

  call(exports, name, inputs) {
    for (const bytes of inputs) {
      const at = exports.input(bytes.length);
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    }
    const status = exports[name]();
    const [type, body] = [0, 1].map((which) => new Uint8Array(exports.memory.buffer, exports.output(which), exports.output_len(which)).slice());
    return { status, type: read.decode(type), body };
  }

  // A reply as the server's: { status, type, body }.
  async ask(path, query, type, body) {
    if (!this.exports) await this.start();
    let reply;
    try {
      reply = this.call(this.exports, "ask", [words.encode(path), words.encode(query), words.encode(type), body]);
    } catch (error) {
      // A trap: what the module holds cannot be trusted any more.
      await this.start();
      const problem = { type: "urn:locdiff:problem:internal", title: "The module failed", status: 500, detail: `this photo brought the module down (${error.message}); it was started anew` };
      return { status: 500, type: "application/problem+json", body: words.encode(JSON.stringify(problem)) };
    }
    if (this.exports.memory.buffer.byteLength > MOST_BYTES) this.exports = null;
    return reply;
  }

  get bytes() { return this.exports?.memory.buffer.byteLength ?? 0; }
  get isFused() { return this.exports?.is_fused() === 1; }
}
