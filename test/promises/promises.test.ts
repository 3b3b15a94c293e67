import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";

import { broken, promises } from "./promises.ts";

const NEXT = resolve(import.meta.dirname, "next-release.txt");
/** `npm run release` writes it, with its version in the first line. */
const LAST = resolve(import.meta.dirname, "last-release.txt");
const MANIFEST = resolve(import.meta.dirname, "../../package.json");

test("next-release.txt lists what the next release promises (vitest -u writes it anew)", async () => {
  await expect(`${(await promises()).join("\n")}\n`).toMatchFileSnapshot(NEXT);
});

test("what the last release of this major version promised holds", async () => {
  const { version } = JSON.parse(readFileSync(MANIFEST, "utf8")) as { version: string };
  const major = Number(version.split(".")[0]);
  expect(existsSync(LAST)).toBe(major > 0);
  const [release = "", ...promised] = existsSync(LAST) ? readFileSync(LAST, "utf8").trimEnd().split("\n") : [];
  const isOfThisMajor = Number(release.match(/^fiscalflow (\d+)\./)?.[1]) === major;
  expect(broken(await promises(), isOfThisMajor ? promised : [])).toEqual([]);
});

test.each<[string, (line: string) => string[]]>([
  ["a stage that is gone", (line) => (line === "stage rejected" ? [] : [line])],
  ["a field of an answer that is gone", (line) => (line.startsWith("answer.state stage") ? [] : [line])],
  ["a field of another type", (line) => [line.replace("input.sale branch is string", "input.sale branch is number")]],
  ["a value that is refused", (line) => (line === 'input.sale stock accepts "off"' ? [] : [line])],
  ["an option that is gone", (line) => (line.startsWith("command sale refund --number") ? [] : [line])],
  ["a history that was changed", (line) => [line.replace(/^(history sale-.*\.json) .*/, "$1 0")]],
  ["a new field that must be given", (line) => [line, ...ifIs(line, "input.sale lines[].sku", " must be given")]],
  ["an old field that must be given", (line) => [line, ...ifIs(line, "input.sale branch", " must be given")]],
  ["an argument that must be given", (line) => [line, ...ifIs(line, "command doctor", " <what> must be given")]],
])("%s breaks a promise", async (_, changed) => {
  const promised = await promises();
  expect(broken(promised.flatMap(changed), promised)).not.toEqual([]);
});

test.each<[string, (line: string) => string[]]>([
  ["a new field", (line) => [line, ...ifIs(line, "input.sale lines[].sku", "2")]],
  [
    "a field that may now be left out",
    (line) => (line === "input.sale traderInvoiceNumber must be given" ? [] : [line]),
  ],
  ["a new command with an argument", (line) => [line, ...ifIs(line, "command doctor", "s <what> must be given")]],
])("%s breaks none", async (_, changed) => {
  const promised = await promises();
  expect(promised.flatMap(changed)).not.toEqual(promised);
  expect(broken(promised.flatMap(changed), promised)).toEqual([]);
});

function ifIs(line: string, name: string, more: string): string[] {
  return line === name ? [`${line}${more}`] : [];
}
