/** Where on Earth was this photo taken? Answers are the objects that `locdiff locate --json` prints. */
export interface Place { lat: number; lon: number }
export interface Hypothesis extends Place { place: string; probability: number }

export interface Answer {
  photo: string | null;
  /** The smallest named region that holds at least half of the probability: "Bavaria, Germany", "Germany or Poland". */
  headline: string;
  countries: Array<{ code: string; name: string; probability: number }>;
  states: Array<{ code: string; name: string; country_code: string; probability: number }>;
  continents: Array<{ name: string; probability: number }>;
  best: Place;
  place: string;
  country: string | null;
  country_code: string | null;
  /** False: the photo says too little; `best` is a guess. */
  can_tell: boolean;
  hypotheses: Hypothesis[];
  radius_50_km: number;
  radius_90_km: number;
  area_50_km2: number;
  area_90_km2: number;
  locatability: number;
  familiarity: number | null;
  information_nats: number;
  window_km: number;
  /** The photo's own tag, which is not used. */
  gps: Place | null;
  /** What each factor did to the best place, if `why` was asked: the nats add up. */
  ledger?: Array<{ factor: string; says?: string; nats: number; countries: Record<string, number>; without?: Place & { place: string; country: string; probability: number; moved_km: number } }>;
  /** Lines of text in the photo that say something about places, where there is a reader. */
  text?: Array<{ text: string; confidence: number; corners: Array<[number, number]>; evidence: Array<{ kind: string; says: string; nats: number; countries: string[] }> }>;
  [more: string]: unknown;
}

/** What is asked; every value has the default of `locdiff locate`. */
export interface LocateRequest {
  /** What the photo is called in the answer. */
  name?: string;
  /** It must be in one of these: "Japan", "50 km around Paris", "lat0,lon0,lat1,lon1". */
  within?: string | string[];
  /** What is known about it: "language=Polish", "drives!=left", "near=Lyon 100km". */
  clue?: string | string[];
  /** When it was taken, for clues of the sun and the season. */
  time?: string;
  /** Whether the answer has a ledger. */
  why?: boolean;
  /** Whether text in it is used, and lines of it that are not. */
  text?: boolean;
  ignore_text?: string | string[];
  views?: number;
  seed?: number;
  hypotheses?: number;
  window_km?: number;
  density?: "none" | "geojson" | "grid" | "all";
}

export interface Embedded {
  photo: string | null;
  encoder: string | null;
  embedding: number[];
  time: string | null;
  offset: string | null;
  camera: string | null;
  gps: [number, number] | null;
  /** Lines that were read in it, with their confidence and corners. */
  text?: Array<[string, number, Array<[number, number]>]>;
}

export interface TripRequest { seed?: number; one_trip?: boolean; trust_clocks?: boolean }
export interface Trip { photos: Array<Record<string, unknown>>; clocks: unknown[]; track: unknown }

export interface Problem { type: string; title: string; status: number; detail: string }
export class LocdiffError extends Error { readonly status: number; readonly problem: Problem }

export type Bytes = Uint8Array | ArrayBuffer;

export interface Locdiff {
  /** A photo's answer; a file that is no photo rejects with a {@link LocdiffError}. */
  locate(photo: Bytes, request?: LocateRequest): Promise<Answer>;
  /** The same as text, in the form that `locdiff locate --json` prints. */
  locateText(photo: Bytes, request?: LocateRequest): Promise<string>;
  embed(photo: Bytes, request?: { name?: string }): Promise<Embedded>;
  /** The photos of one trip, answered together. */
  album(photos: Array<{ name: string; bytes: Bytes }>, request?: TripRequest): Promise<Trip>;
  /** Any route of `locdiff serve` that computes. */
  ask(path: string, query: string, type: string, body: Bytes, signal?: AbortSignal): Promise<{ status: number; type: string; body: Uint8Array }>;
  /** The module's memory, and whether its sums round as other machines' do: then embeddings are the same bits. */
  about(): Promise<{ bytes: number; isFused: boolean }>;
  /** Ends the worker. */
  close(): void;
}

/** Loads the model: in a page in a worker, in Node on this thread. */
export function open(): Locdiff;
