import { Connection } from "@temporalio/client";
import { readFile } from "node:fs/promises";
import { createServer as createHttp1Server, type Server } from "node:http";
import { createSecureServer, createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Server as NetServer } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { loadTemporalConnection } from "../config/index.ts";
import { Certificates } from "../http/test-support/certificates.ts";
import { connectErrorOf, expiringCertificate, whyUnusable } from "../worker/diagnose-temporal.ts";
import { connectTemporal } from "./connect-temporal.ts";
import { callCli } from "./test-support/call-cli.ts";

let certificates: Certificates;
const servers: (NetServer | Server)[] = [];
const at = (file: string): string => certificates.at(file);

beforeAll(async () => {
  certificates = await Certificates.create();
  await certificates.makeAuthority("ca");
  await certificates.makeAuthority("stranger");
  const names = "DNS:localhost,IP:127.0.0.1";
  await certificates.issue("server", { by: "ca", names });
  await certificates.issue("elsewhere", { by: "ca", names: "DNS:temporal.example.com" });
  await certificates.issue("expired", { by: "ca", names, days: [-30, -1] });
  await certificates.issue("client", { by: "ca", names: "DNS:client" });
  await certificates.issue("nameless", { by: "stranger", names: "URI:spiffe://shop/worker", withoutSubject: true });
});
afterAll(async () => {
  for (const server of servers) server.close();
  await certificates.remove();
});

async function listening(server: NetServer | Server): Promise<string> {
  // A test that leaves may leave a half-open handshake behind.
  server.on("tlsClientError", () => undefined);
  server.on("sessionError", () => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  servers.push(server);
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Temporal's frontend as far as this test needs one: every call has the same end. */
function answerWith(grpcStatus: number) {
  return (stream: ServerHttp2Stream): void => {
    const headers = { ":status": 200, "content-type": "application/grpc", "grpc-status": String(grpcStatus) };
    stream.respond({ ...headers, "grpc-message": "no such luck" }, { endStream: true });
  };
}

async function secure(
  certificate: string,
  more: { wantsClient?: boolean; tls12?: boolean; grpcStatus?: number } = {},
): Promise<string> {
  const server = createSecureServer({
    ...(await certificates.pairOf(certificate)),
    ...(more.tls12 && { maxVersion: "TLSv1.2" }),
    ...(more.wantsClient && { requestCert: true, rejectUnauthorized: true, ca: await readFile(at("ca.pem")) }),
  });
  server.on("stream", answerWith(more.grpcStatus ?? 12));
  return listening(server);
}

const TLS = () => ({ TEMPORAL_TLS_SERVER_CA_CERT_PATH: at("ca.pem") });
const CLIENT = (name: string, key = name) => ({
  ...TLS(),
  TEMPORAL_TLS_CLIENT_CERT_PATH: at(`${name}.pem`),
  TEMPORAL_TLS_CLIENT_KEY_PATH: at(`${key}.key`),
});

type Env = Record<string, string>;

async function messageOf(address: string, env: Env): Promise<string> {
  const own = { TEMPORAL_ADDRESS: address, TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml", ...env };
  const temporal = loadTemporalConnection({ env: own });
  const error = await connectErrorOf(new Error("Failed to connect before the deadline"), temporal);
  return error instanceof Error ? error.message : String(error);
}

describe("a connection to Temporal that fails", () => {
  const wants = { wantsClient: true };
  const old = { wantsClient: true, tls12: true };
  const cases: [string, () => Promise<string>, () => Env, RegExp][] = [
    [
      "wants a client certificate",
      () => secure("server", wants),
      TLS,
      /wants a client certificate, and none is configured .*Set TEMPORAL_TLS_CLIENT_CERT_PATH/,
    ],
    ["wants one by TLS 1.2", () => secure("server", old), TLS, /wants a client certificate, and none is configured/],
    [
      "refuses ours",
      () => secure("server", wants),
      () => CLIENT("stranger"),
      /refused our client certificate .*"CN=stranger", issued by "CN=stranger", valid until .*Set TEMPORAL_TLS_CLIENT_CERT_PATH .*that the server trusts/,
    ],
    [
      "refuses ours, which has no subject",
      () => secure("server", wants),
      () => CLIENT("nameless"),
      /refused our client certificate .*"URI:spiffe:\/\/shop\/worker", issued by "CN=stranger", valid until/,
    ],
    [
      "refuses ours, which has expired",
      () => secure("server", wants),
      () => CLIENT("expired"),
      /refused our client certificate .*"CN=expired", issued by "CN=ca", has expired .*Renew it, and set TEMPORAL_TLS_CLIENT_CERT_PATH/,
    ],
    [
      "refuses ours by TLS 1.2",
      () => secure("server", old),
      () => CLIENT("stranger"),
      /refused our client certificate/,
    ],
    [
      "a key of another certificate",
      () => secure("server", wants),
      () => CLIENT("client", "stranger"),
      /client certificate for Temporal cannot be used .*TEMPORAL_TLS_CLIENT_KEY_PATH/,
    ],
    [
      "an unknown CA",
      () => secure("server"),
      () => ({ TEMPORAL_TLS: "true" }),
      /not issued by a CA that is trusted here .*TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    ],
    ["another CA", () => secure("stranger"), TLS, /not issued by a CA that is trusted here/],
    [
      "a certificate for another host",
      () => secure("elsewhere"),
      TLS,
      /for another name .*"127.0.0.1".*TEMPORAL_TLS_SERVER_NAME/,
    ],
    [
      "another name than TEMPORAL_TLS_SERVER_NAME",
      () => secure("server"),
      () => ({ ...TLS(), TEMPORAL_TLS_SERVER_NAME: "temporal.example.com" }),
      /expected to be for "temporal.example.com"/,
    ],
    ["an expired certificate", () => secure("expired"), TLS, /has expired .*Renew it/],
    [
      "TLS to a server without it",
      () => listening(createHttp2Server()),
      TLS,
      /does not speak TLS .*TEMPORAL_TLS=false/,
    ],
    [
      "an API key to a server without TLS",
      () => listening(createHttp2Server()),
      () => ({ TEMPORAL_API_KEY: "key" }),
      /does not speak TLS .*TEMPORAL_API_KEY/,
    ],
    [
      "no TLS to a server with it",
      () => secure("server"),
      () => ({}),
      /expects TLS, and TLS is off. Set TEMPORAL_TLS=true/,
    ],
    [
      "no TLS to a server that wants certificates",
      () => secure("server", wants),
      () => ({}),
      /expects TLS, and TLS is off/,
    ],
    [
      "a port of HTTP",
      () => listening(createHttp1Server((_request, response) => response.end())),
      () => ({}),
      /not Temporal's frontend.*not that of the UI/,
    ],
    [
      "an API key that is refused",
      () => secure("server", { grpcStatus: 16 }),
      () => ({ ...TLS(), TEMPORAL_API_KEY: "key" }),
      /refuses us in the namespace "default": no such luck. Check TEMPORAL_API_KEY/,
    ],
    ["a lack of permission", () => secure("server", { grpcStatus: 7 }), TLS, /refuses us in the namespace "default"/],
  ];
  test.concurrent.each(cases)("by %s says so, and which setting to look at", async (_what, serve, env, says) => {
    const message = await messageOf(await serve(), env());
    expect(message).toMatch(says);
    expect(message).not.toContain("cannot be reached");
  });

  test("although nothing is wrong with TLS is told as one that cannot be reached", async () => {
    expect(await messageOf(await secure("server", wants), CLIENT("client"))).toContain("cannot be reached");
  });

  test("for a moment, as while a load balancer switches, is made all the same", async () => {
    const server = createSecureServer(await certificates.pairOf("server"));
    server.on("stream", answerWith(12));
    const fromMs = performance.now();
    server.prependListener("connection", (socket) => {
      if (performance.now() - fromMs < 1_500) socket.destroy();
    });
    const env = { TEMPORAL_ADDRESS: await listening(server), TEMPORAL_CONFIG_FILE: "/nonexistent", ...TLS() };
    const connection = await connectTemporal({ env }, loadTemporalConnection({ env }));
    expect(connection).toBeInstanceOf(Connection);
    await connection.close();
  });

  test("soon, since our certificate expires, is told before: from the last third of its life on", () => {
    const temporal = loadTemporalConnection({ env: { ...CLIENT("client"), TEMPORAL_CONFIG_FILE: "/nonexistent" } });
    const hours = (n: number): number => Date.now() + n * 3_600_000;
    // It was made for two days.
    expect(expiringCertificate(temporal, hours(30))).toBeUndefined();
    expect(expiringCertificate(temporal, hours(34))).toEqual({
      message: expect.stringMatching(/^our client certificate "CN=client" expires on .* GMT$/),
      todo: expect.stringContaining("restart the workers and the receiver"),
    });
    const nameless = loadTemporalConnection({ env: { ...CLIENT("nameless"), TEMPORAL_CONFIG_FILE: "/nonexistent" } });
    expect(expiringCertificate(nameless, hours(34))?.message).toContain('"URI:spiffe://shop/worker" expires on');
    const withoutOne = loadTemporalConnection({ env: { ...TLS(), TEMPORAL_CONFIG_FILE: "/nonexistent" } });
    expect(expiringCertificate(withoutOne, hours(34))).toBeUndefined();
  });

  test("is told by `doctor`, by the worker and by the receiver in the same words", async () => {
    const address = await secure("server", wants);
    const own = {
      TEMPORAL_ADDRESS: address,
      TEMPORAL_CONFIG_FILE: "/nonexistent/temporal.toml",
      ...CLIENT("stranger"),
    };
    const compliance = { COMPLIANCE_BASE_URL: "http://127.0.0.1:9", COMPLIANCE_API_KEY: "cmp_sk_test_a" };
    const env = { ...own, ...compliance, COMPLIANCE_BUSINESS_ID: "biz_1", FISCALFLOW_HOME: at("home") };
    const told = /Temporal at 127\.0\.0\.1:\d+ refused our client certificate/;
    const [doctor, worker, receiver] = await Promise.all([
      callCli(["doctor"], { env }),
      callCli(["worker"], { env }),
      whyUnusable(loadTemporalConnection({ env: own }), own),
    ]);
    expect(doctor.stdout).toMatch(told);
    expect(worker.stderr).toMatch(told);
    expect(receiver).toMatch(told);
    expect([doctor.exitCode, worker.exitCode]).toEqual([1, 1]);
  });
});
