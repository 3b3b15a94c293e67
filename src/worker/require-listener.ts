import { connect } from "node:net";

import type { Environment, TemporalConnection } from "../config/index.ts";
import { TemporalError } from "./temporal-error.ts";

const DEFAULT_PORT = 7233;
const DEFAULT_ADDRESS = `localhost:${DEFAULT_PORT}`;
const CONNECT_MS = 5_000;
/** Through a proxy the address need not be reachable from here. */
const PROXY_VARIABLES = ["grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY", "HTTP_PROXY"];

/** Where Temporal is looked for, as it is shown to people. */
export function temporalAddress({ connectionOptions }: Pick<TemporalConnection, "connectionOptions">): string {
  return connectionOptions.address ?? DEFAULT_ADDRESS;
}

/**
 * Whether anybody listens at Temporal's address. The client would go on trying for ten seconds, and then say no more
 * than that the time is up.
 * @throws TemporalError
 */
export async function requireListener(temporal: TemporalConnection, env: Environment): Promise<void> {
  if (PROXY_VARIABLES.some((name) => env[name])) return;
  const address = temporalAddress(temporal);
  const { hostname, port } = parseAddress(address);
  const reason = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ host: hostname, port, timeout: CONNECT_MS });
    const end = (outcome: string | undefined): void => {
      socket.destroy();
      resolve(outcome);
    };
    socket.once("connect", () => end(undefined));
    socket.once("timeout", () => end(`no answer within ${CONNECT_MS / 1_000} s`));
    socket.once("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
  if (reason !== undefined) throw unreachable(temporal, reason);
}

export function unreachable(temporal: TemporalConnection, reason: string, cause?: unknown): TemporalError {
  const advice = temporal.addressGiven
    ? "Check TEMPORAL_ADDRESS (or the profile), and that the server runs and can be reached from here"
    : "No address is configured, so this is Temporal's usual one: set TEMPORAL_ADDRESS, or start a server there with `temporal server start-dev`";
  const message = `Temporal at ${temporalAddress(temporal)} cannot be reached (${reason}). ${advice}.`;
  return new TemporalError("unreachable", message, cause === undefined ? undefined : { cause });
}

function parseAddress(address: string): { hostname: string; port: number } {
  const url = `tcp://${address.replace(/^[a-z]+:\/\//i, "")}`;
  if (!URL.canParse(url)) return { hostname: address, port: DEFAULT_PORT };
  const { hostname, port } = new URL(url);
  return { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || DEFAULT_PORT };
}
