import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { downloadBySdk } from "./find-temporal-cli.ts";

async function downloadThrough(proxy: string, stallMs?: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-download-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const env = { ...process.env, HTTPS_PROXY: proxy, https_proxy: proxy, NO_PROXY: "", no_proxy: "" };
  return downloadBySdk(folder, { env, onProgress: () => undefined }, stallMs);
}

it("the SDK's download reports at once that its address cannot be reached", async () => {
  await expect(downloadThrough("http://127.0.0.1:1")).rejects.toThrow(/temporal\.download.*[Cc]onnect/);
});

it("the SDK's download gives up on a firewall that drops the request", async () => {
  const wall = createServer((socket) => void socket.on("error", () => undefined).resume());
  await new Promise<void>((resolve) => wall.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void wall.close());
  const address = wall.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  await expect(downloadThrough(`http://127.0.0.1:${address.port}`, 1_000)).rejects.toThrow(/^received nothing for 1 s/);
});
