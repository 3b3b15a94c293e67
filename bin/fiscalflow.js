#!/usr/bin/env node
// `npx fiscalflow` in a checkout links what is there when it is first run, and keeps that link: so this file is there
// before the first build.
import { existsSync } from "node:fs";

const main = new URL("../dist/src/main.js", import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write("fiscalflow is not built yet: run `npm run build` first.\n");
  process.exitCode = 2;
}
