// A part of the build: takes the indentation, the blanks and the names of variables out of the compiled files that the
// package carries. The names of functions and classes stay, and lines stay short, so that a stack of the installed
// command tells file, function and line.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { minify } from "terser";

/** Not `src/contract`: the bundle of the workflows, made of it too, maps its lines to the sources. */
const SHARED = join("dist/src", "contract");
/** tsc ends each file with it: what lacks it is small already. */
const MAP = "\n//# sourceMappingURL=";

for (const folder of ["dist/activities", "dist/src"]) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith(".js") || entry.parentPath.startsWith(SHARED)) continue;
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, "utf8");
    if (!text.includes(MAP)) continue;
    const { code = "" } = await minify(text, {
      ecma: 2020,
      module: true,
      // What leaves each statement where it is.
      compress: { defaults: false, join_vars: true, properties: true, booleans: true },
      mangle: { keep_classnames: true, keep_fnames: true },
      format: { comments: false, max_line_len: 120 },
    });
    writeFileSync(path, `${code}\n`);
  }
}
