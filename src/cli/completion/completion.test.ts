import { execFile, spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { callCli } from "../test-support/call-cli.ts";

const run = promisify(execFile);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fiscalflow-completion-"));
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout } = await callCli(["completion", shell]);
    await writeFile(join(folder, shell), stdout);
  }
  await writeFile(join(folder, "sale.json"), "{}");
});
afterAll(() => rm(folder, { recursive: true }));

/** How each shell is asked what it would offer for the words, of which the last is under way. */
const SHELLS: Readonly<Record<string, (words: readonly string[]) => string[]>> = {
  bash: (words) => [
    "-c",
    `source ./bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fiscalflow; printf '%s\\n' "\${COMPREPLY[@]}"`,
    "bash",
    ...words,
  ],
  // The three functions are those of its own completion system, which exist only at a prompt.
  zsh: (words) => [
    "-fc",
    `compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { print -l -- *; }
     _describe() { [[ $1 == -o ]] && shift; print -l -- "\${(@P)2%%:*}"; }
     source ./zsh; words=("$@"); CURRENT=$#; _fiscalflow`,
    "zsh",
    ...words,
  ],
  fish: (words) => [
    "--no-config",
    "-c",
    `source ./fish; complete -C "$argv" | string split -f 1 \\t; or true`,
    words.join(" "),
  ],
};

const CASES: readonly [typed: string, offered: string[], not?: string][] = [
  ["fiscalflow ", ["sale", "simulator", "doctor", "completion"]],
  ["fiscalflow sa", ["sale"]],
  ["fiscalflow sale ", ["start", "show", "list", "resolve-stock"], "doctor"],
  ["fiscalflow sale show INV-1 --", ["--connection", "--business", "--json"], "--wait"],
  ["fiscalflow sale list --stage aw", ["awaiting-authority"]],
  ["fiscalflow sale list --query ", []],
  ["fiscalflow simulator trigger ", ["rejected", "stock-unknown", "callback-lost"], "trigger"],
  ["fiscalflow simulator --port 1 tr", ["trigger"]],
  ["fiscalflow sale start ", ["sale.json"]],
  ["fiscalflow report day --", ["--json"]],
  ["fiscalflow demo --report ", ["sale.json"]],
  ["fiscalflow completion ", ["bash", "zsh", "fish"]],
];

describe.each(Object.entries(SHELLS))("completion in %s", (shell, argumentsFor) => {
  const isHere = spawnSync(shell, ["--version"]).status === 0;
  test.skipIf(!isHere).each(CASES)("offers for `%s` what can follow", async (typed, offered, not = "--nothing") => {
    const words = typed.split(" ");
    const { stdout } = await run(shell, argumentsFor(words), { cwd: folder });
    const begun = words.at(-1) ?? "";
    const found = stdout.split("\n").filter((word) => word !== "" && word.startsWith(begun));
    const missing = offered.filter((word) => !found.includes(word));
    const strange = offered.length === 0 ? found : found.filter((word) => word === not);
    expect({ missing, strange }).toEqual({ missing: [], strange: [] });
  });
});

test("completion for an unknown shell is refused, with the shells that exist", async () => {
  expect(await callCli(["completion", "csh"])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("bash, zsh, fish"),
  });
});
