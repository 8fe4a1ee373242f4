// Where the module and the model's files come from. `list` is files.json: for each, its name, its path with its hash, its SHA-256.
import { Core, build } from "./core.js";

const MODEL = ["encoder.json", "encoder.safetensors", "config.json", "model.safetensors", "calibration.json"];

// Opens a core; `fetchFile({ path, integrity })` gives a response with the gzipped bytes.
export async function openCore(list, fetchFile) {
  const unzipped = async (name) => {
    const file = list.find((one) => one.name === name);
    if (!file) throw new Error(`this browser or Node is too old: there is no ${name} for it`);
    const response = await fetchFile(file);
    return response.body.pipeThrough(new DecompressionStream("gzip"));
  };
  const whole = async (name) => new Uint8Array(await new Response(await unzipped(name)).arrayBuffer());
  const compiled = async () => WebAssembly.compile(await whole(`${build()}.wasm`));
  const [module, ...files] = await Promise.all([compiled(), ...MODEL.map(whole)]);
  return Core.open(module, files);
}
