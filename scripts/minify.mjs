// A part of the build: takes the indentation, the blanks and the names of variables out of the compiled files that the
// package carries. The names of functions and classes stay, and lines stay short, so that a stack of the installed
// command tells file, function and line.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { minify } from "terser";

/** The bundle of the workflows, made of it too, maps its lines to the sources: its own map goes along. */
const SHARED = join("dist/src", "contract");
/** tsc ends each file with it: what lacks it is small already. */
const MAP = "\n//# sourceMappingURL=";
/** A stack tells functions and classes. */
const KEEPING_NAMES = { keep_classnames: true, keep_fnames: true };
/** What tsc indents by. */
const INDENTED = "\n    ";

for (const folder of ["dist/activities", "dist/src"]) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.name.endsWith(".js")) continue;
    const path = join(entry.parentPath, entry.name);
    const text = readFileSync(path, "utf8");
    if (entry.parentPath.startsWith(SHARED)) await takeIndentation(path, text);
    else if (text.includes(MAP)) writeFileSync(path, `${await minified(text)}\n`);
  }
}

/** @param {string} text */
async function minified(text) {
  const { code = "" } = await minify(text, {
    ecma: 2020,
    module: true,
    // What leaves each function where it is, and makes no sequence of statements.
    compress: {
      defaults: false,
      arrows: true,
      booleans: true,
      collapse_vars: true,
      comparisons: true,
      conditionals: true,
      dead_code: true,
      evaluate: true,
      if_return: true,
      join_vars: true,
      properties: true,
      reduce_vars: true,
      side_effects: true,
      unused: true,
    },
    mangle: KEEPING_NAMES,
    format: { comments: false, max_line_len: 120 },
  });
  return code;
}

/** @param {string} path @param {string} text */
async function takeIndentation(path, text) {
  if (!text.includes(INDENTED)) return;
  const name = basename(path);
  const { code = "", map = "" } = await minify(
    { [name]: text },
    {
      module: true,
      compress: false,
      mangle: KEEPING_NAMES,
      format: { comments: false, beautify: true, indent_level: 0 },
      sourceMap: { content: readFileSync(`${path}.map`, "utf8"), url: `${name}.map` },
    },
  );
  writeFileSync(`${path}.map`, typeof map === "string" ? map : JSON.stringify(map));
  writeFileSync(path, code);
}
