import { fileURLToPath } from "node:url";

/** The benchmarks are compiled beside the product: `dist/test/bench/…` beside `dist/src/…`. */
export const BUILT_MAIN = fileURLToPath(new URL("../../../src/cli/main.js", import.meta.url));
