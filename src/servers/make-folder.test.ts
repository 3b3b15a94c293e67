import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeFolder } from "./make-folder.ts";

async function emptyParent(): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), "fiscalflow-make-folder-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  return parent;
}

it("a folder is made whole or not at all", async () => {
  const parent = await emptyParent();
  const making = makeFolder(join(parent, "place"), async (half) => {
    await writeFile(join(half, "file"), "half of it");
    expect(await readdir(parent)).not.toContain("place");
    throw new Error("the disk is full");
  });
  await expect(making).rejects.toThrow("the disk is full");
  expect(await readdir(parent)).toEqual([]);
});

it("a folder that several make at once is the one of the first to finish", async () => {
  const parent = await emptyParent();
  const make = (text: string) => makeFolder(join(parent, "place"), (half) => writeFile(join(half, "file"), text));
  await Promise.all([make("whole"), make("whole"), make("whole")]);
  expect(await readdir(parent)).toEqual(["place"]);
  expect(await readFile(join(parent, "place", "file"), "utf8")).toBe("whole");
});

it.each(["ENOTEMPTY", "EEXIST"])("a folder whose making ends with %s is not taken for made", async (code) => {
  const parent = await emptyParent();
  const making = makeFolder(join(parent, "place"), () => Promise.reject(Object.assign(new Error(code), { code })));
  await expect(making).rejects.toThrow(code);
  expect(await readdir(parent)).toEqual([]);
});
