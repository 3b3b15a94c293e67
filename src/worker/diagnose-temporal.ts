import { Connection } from "@temporalio/client";
import { X509Certificate } from "node:crypto";
import { connect as connectHttp2 } from "node:http2";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type ConnectionOptions } from "node:tls";

import type { Environment, TemporalConnection } from "../config/index.ts";
import { TLS_TROUBLE, type TlsTrouble, tlsTroubleOf } from "../http/tls-trouble.ts";
import {
  parseAddress,
  requireListener,
  requireNamespace,
  temporalAddress,
  TemporalError,
  temporalErrorOf,
  unreachable,
} from "./require-temporal.ts";

const ANSWER_MS = 5_000;

/**
 * What it means that a client could not connect, for those who run the product.
 * @returns a TemporalError
 */
export async function connectErrorOf(error: unknown, temporal: TemporalConnection): Promise<unknown> {
  const known = temporalErrorOf(error, temporal);
  if (known instanceof TemporalError && known.code !== "unreachable") return known;
  const found = await diagnoseTemporal(temporal, error);
  if (found) return found;
  return known === error ? unreachable(temporal, error instanceof Error ? error.message : "unknown", error) : known;
}

/** Why Temporal cannot be used, in words, by connecting once; undefined where it can be. Never throws. */
export async function whyUnusable(temporal: TemporalConnection, env: Environment): Promise<string | undefined> {
  try {
    await requireListener(temporal, env);
    const connection = await Connection.connect({ ...temporal.connectionOptions, connectTimeout: ANSWER_MS });
    try {
      await requireNamespace(connection, temporal);
    } finally {
      await connection.close();
    }
    return undefined;
  } catch (error) {
    // A process that only asks for the reason is not to end by a diagnosis that fails.
    const known = await connectErrorOf(error, temporal).catch(() => error);
    return known instanceof Error ? known.message : String(known);
  }
}

/**
 * Why Temporal's clients could not connect to an address where somebody listens. They say no more than that the time is
 * up, or give the words of a library. So this makes the connection once more, step by step: TLS, HTTP/2, one call.
 * @returns undefined where it finds nothing
 */
async function diagnoseTemporal(temporal: TemporalConnection, cause: unknown): Promise<TemporalError | undefined> {
  const said = await handshakeProblem(temporal);
  if (said !== undefined) return new TemporalError("refused", said, { cause });
  try {
    const connection = await Connection.connect({ ...temporal.connectionOptions, connectTimeout: ANSWER_MS });
    await connection.close();
  } catch (error) {
    // Only what Temporal itself has answered: that nothing answers is known.
    const known = temporalErrorOf(error, temporal);
    if (known instanceof TemporalError && known.code !== "unreachable") return known;
  }
  return undefined;
}

/**
 * Why the handshake with Temporal fails, in words. Undefined where it does not, or nobody listens there, as behind a
 * proxy.
 * @param withinMs for each of the at most two connections that it makes
 */
export async function handshakeProblem(
  temporal: TemporalConnection,
  withinMs: number = ANSWER_MS,
): Promise<string | undefined> {
  const { hostname: host, port } = parseAddress(temporalAddress(temporal));
  const { apiKey } = temporal.connectionOptions;
  const tls = temporal.connectionOptions.tls ?? apiKey !== undefined;
  const where = temporalAddress(temporal);
  if (tls === false || tls === null) {
    const plain = await greeting(() => connectTcp({ host, port }), withinMs);
    if (plain.kind !== "closed") return undefined;
    const anyServer = { host, port, rejectUnauthorized: false, ...serverNameOf(host) };
    const overTls = await greeting(() => connectTls(anyServer), withinMs);
    const speaksTls = overTls.secured || (overTls.trouble !== undefined && overTls.trouble !== "plain-text");
    if (!speaksTls) return notTemporal(where);
    return `Temporal at ${where} expects TLS, and TLS is off. Set TEMPORAL_TLS=true (or one of TEMPORAL_TLS_*, or tls in the profile).`;
  }
  const { serverNameOverride, serverRootCACertificate, clientCertPair } = tls === true ? {} : tls;
  const options: ConnectionOptions = {
    host,
    port,
    ALPNProtocols: ["h2"],
    ...serverNameOf(serverNameOverride ?? host),
    ...(serverRootCACertificate && { ca: Buffer.from(serverRootCACertificate) }),
    ...(clientCertPair && { cert: Buffer.from(clientCertPair.crt), key: Buffer.from(clientCertPair.key) }),
  };
  const met = await greeting(() => connectTls(options), withinMs);
  if (met.kind === "unusable") {
    return `The client certificate for Temporal cannot be used (${met.reason}). TEMPORAL_TLS_CLIENT_CERT_PATH (or _DATA) must be a certificate in PEM, and TEMPORAL_TLS_CLIENT_KEY_PATH (or _DATA) the key of that certificate.`;
  }
  if (met.kind !== "closed") return undefined;
  // A server may close the connection in place of an alert: by TLS 1.3 after the handshake, by TLS 1.2 within it.
  const trouble = met.trouble ?? (met.secured || clientCertPair ? "client-certificate" : "handshake");
  const reason = met.trouble === undefined ? "it closed the connection in the handshake" : met.reason;
  return tlsAdvice(trouble, { where, host: serverNameOverride ?? host, reason, own: clientCertPair?.crt });
}

interface Failed {
  where: string;
  host: string;
  reason: string;
  /** Our certificate, in PEM. */
  own: Uint8Array | undefined;
}

function tlsAdvice(trouble: TlsTrouble, { where, host, reason, own }: Failed): string {
  const failed = `Temporal at ${where} is there, and TLS fails: ${TLS_TROUBLE[trouble]} (${reason}).`;
  switch (trouble) {
    case "untrusted":
      return `${failed} Set TEMPORAL_TLS_SERVER_CA_CERT_PATH to the certificate of the CA that issued it.`;
    case "wrong-name":
      return `${failed} It was expected to be for "${host}": correct TEMPORAL_ADDRESS, or set TEMPORAL_TLS_SERVER_NAME to a name that the certificate has.`;
    case "expired":
    case "not-yet-valid":
      return `${failed} Renew it on the server, or correct the clock of this machine.`;
    case "plain-text":
      return `${failed} TLS is on because of TEMPORAL_TLS, TEMPORAL_TLS_* or TEMPORAL_API_KEY (or the profile). Set TEMPORAL_TLS=false, or correct TEMPORAL_ADDRESS.`;
    case "client-certificate":
      return own
        ? `Temporal at ${where} refused our client certificate (${reason}). ${certificateAdvice(own)}`
        : `Temporal at ${where} wants a client certificate, and none is configured (${reason}). Set TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH.`;
    case "handshake":
      return `${failed} Check TEMPORAL_ADDRESS and TEMPORAL_TLS_*.`;
  }
}

const DAY_MS = 24 * 60 * 60_000;
/** Sooner than that for a certificate that lives shorter: of one of a day, a third of it. */
const WARN_MS = 21 * DAY_MS;

/** What an operator is to be told of our own certificate before Temporal refuses it; undefined where nothing is. */
export function expiringCertificate(
  { connectionOptions: { tls } }: Pick<TemporalConnection, "connectionOptions">,
  nowMs: number,
): { message: string; todo: string } | undefined {
  const pem = typeof tls === "object" ? tls?.clientCertPair?.crt : undefined;
  if (pem === undefined) return undefined;
  const certificate = new X509Certificate(pem);
  const { validFrom, validTo } = certificate;
  const [fromMs, toMs] = [Date.parse(validFrom), Date.parse(validTo)];
  if (toMs - nowMs > Math.min(WARN_MS, (toMs - fromMs) / 3)) return undefined;
  const todo = "renew it, and restart the workers and the receiver, which read it at their start";
  return { message: `our client certificate "${nameOf(certificate)}" expires on ${validTo}`, todo };
}

/** A server that closes the connection says no reason, and an alert leaves out what it looked at. */
function certificateAdvice(pem: Uint8Array): string {
  const certificate = new X509Certificate(pem);
  const { issuer, validFrom, validTo } = certificate;
  const [its, by] = [nameOf(certificate), oneLine(issuer, "an authority without a name")];
  const settings = "TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH (or _DATA)";
  if (Date.parse(validTo) <= Date.now())
    return `"${its}", issued by "${by}", has expired (${validTo}). Renew it, and set ${settings} to the new one.`;
  if (Date.parse(validFrom) > Date.now())
    return `"${its}", issued by "${by}", is not valid before ${validFrom}. Set ${settings} to one that is, or correct the clock of this machine.`;
  return `It is "${its}", issued by "${by}", valid until ${validTo}. Set ${settings} to a certificate of a CA that the server trusts, or let the server trust this one.`;
}

/** By its subject. SPIFFE's certificates have none, nor have those of cert-manager without a `commonName`. */
function nameOf({ subject, subjectAltName }: X509Certificate): string {
  return oneLine(subject, subjectAltName ?? "a certificate without a name");
}

/** @param name undefined where it is empty, whatever Node's types say */
function oneLine(name: string | undefined, otherwise: string): string {
  return name?.replaceAll("\n", ", ") ?? otherwise;
}

function notTemporal(where: string): string {
  return `What answers at ${where} is not Temporal's frontend: it does not speak gRPC. TEMPORAL_ADDRESS must name the frontend's port, which is usually 7233, and not that of the UI.`;
}

/** No name is sent for an IP address. */
function serverNameOf(host: string): { servername?: string } {
  return isIP(host) === 0 ? { servername: host } : {};
}

interface Greeting {
  /**
   * `unusable`: what is configured makes no connection. `nobody`: none was made. `silent`: neither an answer nor an end.
   */
  kind: "answered" | "closed" | "silent" | "unusable" | "nobody";
  /** The code of the error, or its name. */
  reason: string;
  trouble?: TlsTrouble | undefined;
  /** The TLS handshake was completed, as far as this side knows. */
  secured: boolean;
}

/** Waits for what every HTTP/2 server says first, its settings. */
async function greeting(open: () => Socket, withinMs: number): Promise<Greeting> {
  let socket: Socket;
  try {
    socket = open();
  } catch (error) {
    return { kind: "unusable", reason: codeOf(error), secured: false };
  }
  let there = false;
  socket.once("connect", () => (there = true));
  let secured = false;
  socket.once("secureConnect", () => (secured = true));
  const session = connectHttp2("http://temporal", { createConnection: () => socket });
  try {
    return await new Promise((resolve) => {
      const timer = setTimeout(() => resolve({ kind: "silent", reason: "no answer", secured }), withinMs);
      const closed = (error?: unknown): void => {
        clearTimeout(timer);
        const reason = error === undefined ? "closed" : codeOf(error);
        resolve({ kind: there ? "closed" : "nobody", reason, trouble: tlsTroubleOf(error), secured });
      };
      session.once("remoteSettings", () => {
        clearTimeout(timer);
        resolve({ kind: "answered", reason: "", secured });
      });
      socket.once("error", closed);
      session.on("error", closed);
      session.once("close", () => closed());
    });
  } finally {
    session.destroy();
    socket.destroy();
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown reason";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
