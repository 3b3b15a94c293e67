import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer as createPlainServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";

import { TransportError } from "./errors.ts";
import { createDispatchers, createTransport } from "./transport.ts";

async function failureAt(server: Server): Promise<TransportError> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const dispatchers = createDispatchers();
  onTestFinished(async () => {
    await dispatchers.close();
    server.close();
  });
  const url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/v1/sales`);
  const request = { method: "GET", url, headers: {}, timeoutMs: 5_000, maxBodyBytes: 1_000 } as const;
  const error: unknown = await createTransport(dispatchers)
    .send(request)
    .catch((thrown: unknown) => thrown);
  if (error instanceof TransportError) return error;
  throw new Error(`expected a TransportError, got ${String(error)}`);
}

test("a service whose certificate is not trusted is told so, and not only by a code", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fiscalflow-tls-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, "key"), join(folder, "cert")];
  const form = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=api"];
  await promisify(execFile)("openssl", ["req", "-x509", ...form, "-keyout", key, "-out", cert]);
  const error = await failureAt(createSecureServer({ key: await readFile(key), cert: await readFile(cert) }));
  expect(error).toMatchObject({ code: "not-sent", sent: "no" });
  expect(error.message).toContain("not issued by a CA that is trusted here); nothing was sent");
});

test("a service that does not speak TLS is told so", async () => {
  const error = await failureAt(createPlainServer());
  expect(error).toMatchObject({ code: "not-sent", sent: "no" });
  expect(error.message).toContain("the server does not speak TLS); nothing was sent");
});
