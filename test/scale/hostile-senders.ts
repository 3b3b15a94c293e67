import { randomBytes } from "node:crypto";
import { Agent, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A second, in which a slow sender sends one byte. */
const BYTE_EACH_MS = 1_000;
const AGAIN_AFTER_MS = 100;
/** Longer than the receiver lets anybody wait. */
const NO_ANSWER_MS = 30_000;

interface Target {
  port: number;
  /** Valid, of a workflow that nobody reports: for senders that know it and never finish. */
  path: string;
}

type Kind = readonly [name: string, bytes: (target: Target) => string | Buffer];

const head = (line: string, ...headers: string[]): string =>
  [line, "Host: a", "Connection: close", ...headers, "", ""].join("\r\n");
const token = (bytes: number): string => randomBytes(bytes).toString("base64url");
const forged = (): string => `c1.${token(24)}.${randomBytes(24).toString("base64url")}`;
const json = (text: string): string[] => ["Content-Type: application/json", `Content-Length: ${text.length}`];
const webhook = (...headers: string[]): string => head("POST /webhooks/accounting/default HTTP/1.1", ...headers);
const BODY = JSON.stringify({ event: "sale.completed", sale: { status: "completed", receipt: { cuInvoiceNo: "X" } } });
const HUGE = Buffer.alloc(1_200_000, "x");

/** What is sent as it is, each on a connection of its own. */
const RAW: readonly Kind[] = [
  ["a forged token", () => head(`POST /callbacks/${forged()} HTTP/1.1`, ...json(BODY)) + BODY],
  ["a forged token among slashes", () => head(`POST //callbacks//${forged()}/ HTTP/1.1`, ...json(BODY)) + BODY],
  ["another sale's signature", ({ path }) => head(`POST ${path.slice(0, -6)}AAAAAA HTTP/1.1`, ...json("{}")) + "{}"],
  ["a token of 5,000 characters", () => head(`POST /callbacks/${"a".repeat(5_000)} HTTP/1.1`)],
  ["a path that cannot be decoded", () => head("GET /callbacks/%zz%ff HTTP/1.1")],
  ["an unknown path", () => head(`GET /${token(12)}?x=${token(200)} HTTP/1.1`)],
  ["HEAD of a callback", ({ path }) => head(`HEAD ${path} HTTP/1.1`)],
  ["an endless head", () => `GET / HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(20_000)}\r\n\r\n`],
  ["no HTTP", () => Buffer.concat([randomBytes(300), Buffer.from("\r\n\r\n")])],
  ["a huge announced body", ({ path }) => head(`POST ${path} HTTP/1.1`, "Content-Length: 99999999999")],
  ["two lengths", () => webhook("Content-Length: 2", "Content-Length: 3", "Transfer-Encoding: chunked")],
  ["a forged webhook", () => webhook(`X-Signature: ${randomBytes(32).toString("hex")}`, ...json(BODY)) + BODY],
  ["a webhook without a signature", () => webhook(...json(BODY)) + BODY],
  ["a webhook of nobody", () => head("POST /webhooks/accounting/other HTTP/1.1", ...json(BODY)) + BODY],
];

const OVERSIZED: Kind = [
  "an oversized webhook",
  () => Buffer.concat([Buffer.from(webhook("Content-Length: 1200000")), HUGE]),
];

/** Requests that must never be accepted, at a steady rate, half of them on connections that are kept. */
export async function sendHostile(target: Target, requests: number, perSecond: number): Promise<Map<string, number>> {
  const answers = new Map<string, number>();
  const count = (kind: string, status: string): void => {
    const key = `${kind}: ${status}`;
    answers.set(key, (answers.get(key) ?? 0) + 1);
  };
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const open = new Set<Promise<void>>();
  const beganMs = performance.now();
  for (let sent = 0; sent < requests; sent += 1) {
    const dueInMs = beganMs + (sent * 1_000) / perSecond - performance.now();
    if (dueInMs > 1) await delay(dueInMs);
    const one = sent % 2 === 0 ? sendKept(agent, target, sent, count) : sendRaw(target, sent, count);
    open.add(one);
    void one.then(() => open.delete(one));
  }
  await Promise.all(open);
  agent.destroy();
  return answers;
}

function sendRaw(target: Target, index: number, count: (kind: string, status: string) => void): Promise<void> {
  const [kind, bytes] = (index % 199 === 0 ? OVERSIZED : RAW[(index >> 1) % RAW.length]) ?? OVERSIZED;
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(target.port, "127.0.0.1", () => socket.write(bytes(target)));
    socket.setTimeout(NO_ANSWER_MS, () => socket.destroy());
    socket.setEncoding("latin1").on("data", (part: string) => (answer = (answer + part).slice(0, 100)));
    // A reset is an end as well.
    socket
      .on("error", () => undefined)
      .on("close", () => {
        count(kind, /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? "none");
        resolve();
      });
  });
}

function sendKept(
  agent: Agent,
  { port }: Target,
  index: number,
  count: (kind: string, status: string) => void,
): Promise<void> {
  const isWebhook = index % 4 === 0;
  const path = isWebhook ? "/webhooks/accounting/default" : `/callbacks/${forged()}`;
  const kind = isWebhook ? "a forged webhook, kept" : "a forged token, kept";
  const headers = { "content-type": "application/json", "x-signature": randomBytes(32).toString("hex") };
  return new Promise((resolve) => {
    const request = httpRequest({ agent, host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
      count(kind, String(response.statusCode));
      response.resume().on("close", resolve);
    });
    request.on("error", () => resolve()).end(BODY);
  });
}

/** Senders that never finish a head, or a body, and come back as often as they are cut off. */
export class SlowSenders {
  readonly #target: Target;
  readonly #sockets = new Set<Socket>();
  readonly #beat: NodeJS.Timeout;
  #stopped = false;
  cutOff = 0;

  constructor(target: Target, count: number) {
    this.#target = target;
    const beginnings = [
      "POST /callbacks/slow HTTP/1.1\r\nHost: a\r\nX-Slow: ",
      "POST /webhooks/accounting/default HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n{",
      `POST ${target.path} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n{`,
      "",
    ];
    for (let n = 0; n < count; n += 1) this.#begin(beginnings[n % beginnings.length] ?? "");
    this.#beat = setInterval(() => {
      for (const socket of this.#sockets) socket.write("G");
    }, BYTE_EACH_MS);
  }

  get open(): number {
    return this.#sockets.size;
  }

  stop(): void {
    this.#stopped = true;
    clearInterval(this.#beat);
    for (const socket of this.#sockets) socket.destroy();
  }

  #begin(bytes: string): void {
    if (this.#stopped) return;
    const socket = connect(this.#target.port, "127.0.0.1", () => {
      this.#sockets.add(socket);
      socket.write(bytes);
    });
    socket.on("error", () => undefined).resume();
    socket.once("close", () => {
      this.#sockets.delete(socket);
      if (!this.#stopped) this.cutOff += 1;
      setTimeout(() => this.#begin(bytes), AGAIN_AFTER_MS);
    });
  }
}
