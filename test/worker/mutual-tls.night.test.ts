import { readFile } from "node:fs/promises";
import { afterAll, afterEach, beforeAll, expect, inject, test } from "vitest";

import { type Simulator, startSimulator } from "../../src/dev/simulator/index.ts";
import { Certificates } from "../../src/http/test-support/certificates.ts";
import { type DevServer, freePort, startDevServer } from "../../src/servers/start-dev-server.ts";
import { CommandProcess, runCommand } from "../rig/command-process.ts";
import { addressOf } from "../rig/cuttable-line.ts";
import { describeWithTemporal } from "../rig/describe-with-temporal.ts";
import { freshDatabase } from "../rig/fresh-database.ts";
import { type MutualTls, startMutualTls } from "../rig/mutual-tls.ts";
import { namespaceOf } from "../rig/namespace.ts";
import { PROMPT_DRAINS } from "../rig/patience.ts";

const NAMESPACE = namespaceOf(import.meta.filename);
const SALE = { traderInvoiceNumber: "TLS-1", lines: [{ itemId: "item_tea", quantity: 2, unitPrice: 350 }] };

type Env = Record<string, string>;

describeWithTemporal("behind mutual TLS", () => {
  let certificates: Certificates;
  let temporal: DevServer;
  let frontend: MutualTls;
  let expired: MutualTls;
  let simulator: Simulator;
  let base: Env;
  const running: CommandProcess[] = [];
  beforeAll(async () => {
    certificates = await Certificates.create();
    await certificates.makeAuthority("ca");
    await certificates.makeAuthority("another-ca");
    const names = "DNS:localhost,IP:127.0.0.1";
    await certificates.issue("server", { by: "ca", names });
    await certificates.issue("server-expired", { by: "ca", names, days: [-30, -1] });
    await certificates.issue("client", { by: "ca", names: "DNS:client" });
    await certificates.issue("client-without-subject", {
      by: "ca",
      names: "URI:spiffe://shop/worker",
      withoutSubject: true,
    });
    await certificates.issue("client-expired", { by: "ca", names: "DNS:client", days: [-30, -1] });
    await certificates.issue("client-of-last-month", { by: "ca", names: "DNS:client", days: [-30, 2] });
    await certificates.issue("client-of-another", { by: "another-ca", names: "DNS:client" });
    temporal = await startDevServer({ namespaces: [NAMESPACE], dynamicConfig: PROMPT_DRAINS });
    const ca = await readFile(certificates.at("ca.pem"));
    const target = addressOf(temporal.address);
    frontend = await startMutualTls(target, await certificates.pairOf("server"), ca);
    expired = await startMutualTls(target, await certificates.pairOf("server-expired"), ca);
    simulator = await startSimulator();
    base = {
      TEMPORAL_ADDRESS: frontend.address,
      TEMPORAL_NAMESPACE: NAMESPACE,
      COMPLIANCE_BASE_URL: simulator.url,
      COMPLIANCE_API_KEY: "cmp_sk_test_simulator",
      COMPLIANCE_BUSINESS_ID: "biz_1",
      LEDGER_URL: await freshDatabase(inject("ledgerServerUrl")),
    };
  });
  afterEach(() => {
    for (const { child } of running) if (child.exitCode === null) child.kill("SIGKILL");
  });
  afterAll(async () => {
    await frontend.close();
    await expired.close();
    await simulator.close();
    await temporal.stop();
    await certificates.remove();
  });

  const authority = (name: string): Env => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: certificates.at(`${name}.pem`) });
  const client = (name: string): Env => ({
    TEMPORAL_TLS_CLIENT_CERT_PATH: certificates.at(`${name}.pem`),
    TEMPORAL_TLS_CLIENT_KEY_PATH: certificates.at(`${name}.key`),
  });
  const admitted = (name = "client"): Env => ({ ...base, ...authority("ca"), ...client(name) });

  function start(name: string, env: Env): CommandProcess {
    const command = new CommandProcess(name, env);
    running.push(command);
    return command;
  }

  test("the client's certificate lets setup, worker, sale, refund, doctor and drain work", async () => {
    const env = admitted();
    expect(await runCommand(["setup"], env)).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("is ready"),
    });
    const worker = start("worker", env);
    await worker.said("serving");
    const sale = await runCommand(["sale", "start", "-", "--wait"], env, JSON.stringify(SALE));
    expect(sale).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("completed") });
    const refund = ["sale", "refund", "TLS-1", "--reason", "06", "--number", "CN-1", "--restock", "--wait"];
    expect(await runCommand(refund, env)).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("credited") });
    const doctor = await runCommand(["doctor"], env);
    expect(doctor).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`${frontend.address} answers`) });
    expect(await worker.end("SIGTERM")).toBe(0);
    expect(worker.lines.at(-1)).toMatchObject({ msg: "stopped" });
    expect([...frontend.accepted]).toEqual(["client"]);
  });

  const newPair = /Set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH/i;
  const refusals: [string, () => Env, RegExp[]][] = [
    ["no client certificate", () => authority("ca"), [/wants a client certificate, and none is configured/, newPair]],
    [
      "a client certificate of another CA",
      () => ({ ...authority("ca"), ...client("client-of-another") }),
      [/refused our client certificate .*"CN=client-of-another", issued by "CN=another-ca", valid until/, newPair],
    ],
    [
      "a client certificate of another CA, where other hosts are behind a proxy,",
      () => ({
        ...authority("ca"),
        ...client("client-of-another"),
        https_proxy: "http://127.0.0.1:9",
        no_proxy: "localhost",
      }),
      [/refused our client certificate .*"CN=client-of-another"/, newPair],
    ],
    [
      "a client certificate that has expired",
      () => ({ ...authority("ca"), ...client("client-expired") }),
      [/refused our client certificate .*"CN=client-expired", issued by "CN=ca", has expired/, newPair],
    ],
    [
      "another CA for the server's certificate",
      () => ({ ...authority("another-ca"), ...client("client") }),
      [/TLS fails: .*not issued by a CA that is trusted here/, /Set TEMPORAL_TLS_SERVER_CA_CERT_PATH/],
    ],
    [
      "no CA for the server's certificate",
      () => client("client"),
      [/TLS fails: .*not issued by a CA that is trusted here/, /Set TEMPORAL_TLS_SERVER_CA_CERT_PATH/],
    ],
    [
      "a server certificate that has expired",
      () => ({ ...authority("ca"), ...client("client"), TEMPORAL_ADDRESS: expired.address }),
      [/TLS fails: the server's certificate has expired/, /Renew it on the server/],
    ],
  ];
  test.each(refusals)("%s is named by every command, with what to change", async (_what, settings, says) => {
    const env = { ...base, ...settings() };
    const refund = ["sale", "refund", "TLS-1", "--reason", "06", "--number", "CN-2"];
    const calls = [["setup"], ["worker"], ["sale", "start", "-"], refund, ["doctor"]];
    const ended = await Promise.all(calls.map((argv) => runCommand(argv, env, JSON.stringify(SALE))));
    for (const { exitCode, stdout, stderr } of ended) {
      const said = `${stdout}${stderr}`;
      for (const words of says) expect(said).toMatch(words);
      expect(said).not.toContain("cannot be reached");
      expect(exitCode).toBe(1);
    }
  });

  test("doctor warns of a certificate that expires soon", async () => {
    const env = { ...base, ...authority("ca"), ...client("client-of-last-month") };
    const { stdout } = await runCommand(["doctor"], env);
    expect(stdout).toMatch(/! Temporal: our client certificate "CN=client-of-last-month" expires on/);
  });

  test.each([
    ["client", "TLS-2"],
    ["client-without-subject", "TLS-3"],
  ])(
    "a worker and a receiver whose certificate is no longer accepted say so, and go on once it is (%s)",
    async (certificate, number) => {
      const [healthPort, callbackPort] = [await freePort(), await freePort()];
      const env = {
        ...admitted(certificate),
        HEALTH_PORT: String(healthPort),
        CALLBACK_PUBLIC_URL: "https://callbacks.example.com",
        CALLBACK_SECRETS: "a secret of the tests that is long enough to be one",
        CALLBACK_PORT: String(callbackPort),
      };
      const [worker, receiver] = [start("worker", env), start("callbacks", env)];
      await Promise.all([worker.said("serving"), receiver.said("receiving")]);
      const ready = async (port: number): Promise<unknown> => {
        const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
        return { status: answer.status, body: await answer.text() };
      };
      await expect.poll(() => ready(healthPort)).toMatchObject({ status: 200 });
      await expect.poll(() => ready(callbackPort)).toMatchObject({ status: 200 });

      frontend.trust(await readFile(certificates.at("another-ca.pem")));
      const refused = expect.stringMatching(/refused our client certificate .*issued by .*CN=ca/);
      await expect.poll(() => ready(healthPort)).toEqual({ status: 503, body: refused });
      // A sender of callbacks may read it: the reason is in the log alone.
      const away = { status: 503, body: '{"status":"Temporal cannot be used"}' };
      await expect.poll(() => ready(callbackPort)).toEqual(away);
      const said = await receiver.said("Temporal cannot be used: callbacks are answered 503 until it can");
      expect(said).toMatchObject({ level: "warn", why: refused });

      frontend.trust(await readFile(certificates.at("ca.pem")));
      await expect.poll(() => ready(healthPort)).toMatchObject({ status: 200 });
      await expect.poll(() => ready(callbackPort)).toMatchObject({ status: 200 });
      await receiver.said("Temporal can be used again");
      const next = { ...SALE, traderInvoiceNumber: number };
      const sale = await runCommand(["sale", "start", "-", "--wait"], env, JSON.stringify(next));
      expect(sale).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("completed") });
      expect(await Promise.all([worker.end("SIGTERM"), receiver.end("SIGTERM")])).toEqual([0, 0]);
    },
  );
});
