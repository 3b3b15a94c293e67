import { Agent, createServer, type IncomingMessage, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import type { OperationName } from "../plan/disturbances.ts";
import type { Boundary } from "../plan/kill-plan.ts";

export interface GateOptions {
  /** The simulator. */
  readonly upstream: string;
  /**
   * Called with where each call stands; may kill the caller in it. `hold-back`: the call that arrived goes no further,
   * as if the service had lost it.
   */
  readonly onBoundary: (seat: number, operation: OperationName, at: Boundary) => "go-on" | "hold-back";
  /** Called as the worker has opened a connection, on which nothing has come yet. */
  readonly onConnection: (seat: number) => void;
}

/**
 * The way of one worker's calls to the service: it knows whose call it is, which the service cannot, and passes every
 * fault on as it is.
 */
export class Gate {
  readonly url: string;
  readonly #server: Server;
  readonly #agent: Agent;

  private constructor(server: Server, agent: Agent) {
    const { port } = server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}`;
    this.#server = server;
    this.#agent = agent;
  }

  static async open(seat: number, options: GateOptions, underWay: CallsUnderWay): Promise<Gate> {
    const agent = new Agent({ keepAlive: true });
    const server = createServer((incoming, answer) => {
      pass({ incoming, answer, agent, seat, options, underWay });
    });
    server.on("connection", () => options.onConnection(seat));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Gate(server, agent);
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/**
 * The calls that may still reach the books: an operator who decides by the books waits until none of them is about the
 * matter.
 */
export class CallsUnderWay {
  readonly #texts = new Set<{ readonly text: string }>();

  enter(text: string): () => void {
    const call = { text };
    this.#texts.add(call);
    return () => this.#texts.delete(call);
  }

  about(subject: string): boolean {
    const quoted = JSON.stringify(subject);
    return [...this.#texts].some(({ text }) => text.includes(quoted));
  }
}

interface Passing {
  readonly incoming: IncomingMessage;
  readonly answer: ServerResponse;
  readonly agent: Agent;
  readonly seat: number;
  readonly options: GateOptions;
  readonly underWay: CallsUnderWay;
}

function pass(call: Passing): void {
  const { incoming, answer } = call;
  const chunks: Buffer[] = [];
  incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
  // A request that breaks off has reached nobody.
  incoming.once("error", () => answer.destroy());
  incoming.once("end", () => forward(call, Buffer.concat(chunks)));
}

function forward({ incoming, answer, agent, seat, options, underWay }: Passing, body: Buffer): void {
  const { method = "", url = "", headers } = incoming;
  const operation = operationOf(method, url);
  const tell = (at: Boundary): "go-on" | "hold-back" =>
    operation === undefined ? "go-on" : options.onBoundary(seat, operation, at);
  const left = underWay.enter(body.toString("utf8"));
  if (tell("arrived") === "hold-back") {
    left();
    answer.destroy();
    return;
  }
  const { host: _host, ...passed } = headers;
  const onward = request(new URL(url, options.upstream), { method, headers: passed, agent }, (real) => {
    tell("processed");
    answer.writeHead(real.statusCode ?? 500, real.headers);
    real.on("data", (chunk: Buffer) => answer.write(chunk));
    real.once("end", () => {
      left();
      answer.end(() => tell("answered"));
    });
    real.once("error", () => {
      left();
      answer.destroy();
    });
  });
  // However soon its caller is gone: the service has the call, and processes it.
  onward.once("error", () => {
    left();
    answer.destroy();
  });
  onward.end(body);
}

const ROUTES: readonly [string, RegExp, OperationName][] = [
  ["GET", /^\/v1\/items\b/, "listItems"],
  ["POST", /^\/v1\/items\/[^/]+\/register\b/, "registerItem"],
  ["POST", /^\/v1\/sales(\?|$)/, "createSale"],
  ["POST", /^\/v1\/sales\/[^/]+\/retry\b/, "retry"],
  ["GET", /^\/v1\/sales\/[^/?]+(\?|$)/, "readSale"],
  ["POST", /^\/v1\/credit-notes\b/, "creditNote"],
  ["POST", /^\/v1\/stock\/adjustments\b/, "adjustStock"],
];

function operationOf(method: string, url: string): OperationName | undefined {
  return ROUTES.find(([verb, path]) => verb === method && path.test(url))?.[2];
}
