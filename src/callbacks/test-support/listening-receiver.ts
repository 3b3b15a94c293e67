import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { onTestFinished } from "vitest";
import { createCallbackReceiver } from "../receiver.ts";
import type { ReceiverOptions } from "../receiver.ts";
import type { SignalOutcome } from "../temporal-signaller.ts";
import { createCallbackToken } from "../callback-token.ts";

export const SECRET = "a-secret-of-this-year-of-at-least-32";
export const OLDER = "a-secret-of-last-year-of-at-least-32";
export const WORKFLOW = "sale/default/biz_1/INV-1001";
export const TOKEN = createCallbackToken({ workflowId: WORKFLOW }, SECRET);
export const PATH = `/callbacks/${TOKEN}`;

/** What the receiver did: the signals that it sent and every line that it logged. */
export class Surroundings {
  readonly signals: { workflowId: string; callback: { event?: string } }[] = [];
  readonly lines: string[] = [];
  answer: () => Promise<SignalOutcome> = () => Promise.resolve("delivered");
  behindMs = 0;
  reachable: () => Promise<boolean> = () => Promise.resolve(true);

  options(overrides: Partial<ReceiverOptions> = {}): ReceiverOptions {
    const log = (fields: object, message: string) => void this.lines.push(`${JSON.stringify(fields)} ${message}`);
    return {
      secrets: [SECRET],
      client: {
        signalCallback: (workflowId, callback) => {
          this.signals.push({ workflowId, callback });
          return this.answer();
        },
        requestSync: () => Promise.resolve("unreachable"),
        workersBehindMs: () => Promise.resolve(this.behindMs),
        isReachable: () => this.reachable(),
      },
      log: { debug: log, warn: log },
      ...overrides,
    };
  }
}

/** Closed when the test is over. */
export async function listen(options: ReceiverOptions): Promise<{ url: string; port: number; app: FastifyInstance }> {
  const app = createCallbackReceiver(options);
  onTestFinished(() => app.close());
  await app.listen({ host: "127.0.0.1", port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, app };
}

/** For methods and bodies that fetch does not send. */
export function send(port: number, method: string, path: string, body: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; text: string }>((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, method, path, headers }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
    });
    request.on("error", reject).end(body);
  });
}

/** Sends bytes as they are and resolves with all that came back once the connection is closed. */
export function sendRaw(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.setEncoding("utf8").on("data", (part: string) => (answer += part));
    socket.on("error", reject).on("close", () => resolve(answer));
  });
}
