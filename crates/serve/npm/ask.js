// What a question and its answer look like, whoever computes.

// `request` as a query: names as in the server's document; a list is repeated.
export function queryOf(request) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(request ?? {})) for (const one of [value].flat()) if (one !== undefined) query.append(name, one);
  return query.toString();
}

export class LocdiffError extends Error {
  constructor(problem) {
    super(problem.detail);
    Object.assign(this, { name: "LocdiffError", status: problem.status, problem });
  }
}

// The functions of the package on top of `ask(path, query, type, body)`.
export class Locdiff {
  constructor(ask, about, close) { Object.assign(this, { ask, about, close }); }

  async text(path, request, type, body) {
    const reply = await this.ask(path, queryOf(request), type, body), text = new TextDecoder().decode(reply.body);
    if (reply.status !== 200) throw new LocdiffError(JSON.parse(text));
    return text;
  }

  // The line that `locdiff locate --json` prints, without its end.
  async locateText(bytes, request) { return (await this.text("/v1/locate", request, "", bytes)).trimEnd(); }
  async locate(bytes, request) { return JSON.parse(await this.text("/v1/locate", request, "", bytes)); }
  async embed(bytes, request) { return JSON.parse(await this.text("/v1/embed", request, "", bytes)); }

  // The photos of one trip, each { name, bytes }: embedded one by one, then answered together.
  async album(photos, request) {
    const rows = [];
    for (const { name, bytes } of photos) {
      const { embedding, time, offset, camera, gps, text } = await this.embed(bytes, { name });
      const raw = new Uint8Array(Float32Array.from(embedding).buffer);
      rows.push({ name, embedding: btoa(Array.from(raw, (byte) => String.fromCharCode(byte)).join("")), time, offset, camera, gps, text });
    }
    const body = new TextEncoder().encode(JSON.stringify({ photos: rows }));
    return JSON.parse(await this.text("/v1/album/embeddings", request, "application/json", body));
  }
}
