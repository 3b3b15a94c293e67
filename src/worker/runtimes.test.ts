import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";

import { createCallbackToken } from "../callbacks/index.ts";
import { loadConfig } from "../config/index.ts";
import { createCallbackUrlFor, keyWatch } from "./runtimes.ts";

const [OLD, NEW] = ["the callback secret of last year, long", "the callback secret of this year, long"] as const;

test("a callback URL is signed with the secret that the first file has now", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-callbacks-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "secret"), OLD);
  const publicUrl = "https://callbacks.example.com";
  const file = join(folder, "config.json");
  await writeFile(file, JSON.stringify({ callbacks: { publicUrl, secrets: [{ file: "secret" }] } }));
  const config = loadConfig({ env: { FISCALFLOW_CONFIG: file } });
  const urlFor = createCallbackUrlFor(config.callbacks);
  const workflowId = "sale/default/biz_1/INV-1";
  const signedWith = (secret: string) => `${publicUrl}/callbacks/${createCallbackToken({ workflowId }, secret)}`;
  expect(urlFor(workflowId)).toBe(signedWith(OLD));
  await writeFile(join(folder, "secret"), NEW);
  config.secretFiles.readAgain();
  expect(urlFor(workflowId)).toBe(signedWith(NEW));
});

test("a refused key of the accounting service is one while it is in use, and somebody waits for it", () => {
  const clock = { nowMs: 0 };
  const key = { version: 1, readAgain() {} };
  const alerts: (() => boolean)[] = [];
  const watch = keyWatch(
    "default",
    key,
    { refused: (_trouble, isRefused) => void alerts.push(isRefused), works: () => undefined },
    () => clock.nowMs,
  );
  const isRefused = () => alerts.map((one) => one());
  watch.refused("listCompanies", 401);
  clock.nowMs += 30 * 60_000;
  expect(isRefused()).toEqual([true]);
  clock.nowMs += 30 * 60_000;
  expect(isRefused()).toEqual([false]);
  watch.refused("listCompanies", 401);
  expect(isRefused()).toEqual([true]);
  for (let looks = 0; looks < 5; looks++) {
    clock.nowMs += 33 * 60_000;
    expect(isRefused()).toEqual([true]);
    watch.awaited("listCompanies");
  }
  key.version = 2;
  watch.awaited("listCompanies");
  expect(isRefused()).toEqual([false]);
});
