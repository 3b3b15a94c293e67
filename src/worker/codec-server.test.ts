import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";

import { createPayloadCodec } from "../payloads/codec.ts";
import { createCodecServer } from "./codec-server.ts";

interface JsonPayload {
  metadata: Record<string, string>;
  data: string;
}

const FILE = new URL("../../docs/payload-vectors.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(FILE, "utf8")) as {
  vectors: { key: string; payload: JsonPayload; encrypted: JsonPayload }[];
};
const [first, , other] = vectors as [(typeof vectors)[number], unknown, (typeof vectors)[number]];
const base64 = (text: string): string => Buffer.from(text).toString("base64");
const inBase64 = (texts: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, base64(text)]));
const PLAIN = { metadata: inBase64(first.payload.metadata), data: base64(first.payload.data) };
const ENCRYPTED = { ...first.encrypted, metadata: inBase64(first.encrypted.metadata) };
const BY_ANOTHER = { ...other.encrypted, metadata: inBase64(other.encrypted.metadata) };

const TOKEN = "a-token-of-at-least-32-characters-";
const ORIGIN = "https://temporal.example.com";
let token = TOKEN;
const told: object[] = [];
const log = { warn: (fields: object) => void told.push(fields), error: (fields: object) => void told.push(fields) };
const server = createCodecServer({
  codec: createPayloadCodec([first.key]),
  token: () => token,
  origins: [ORIGIN],
  log,
  timeouts: { headersMs: 300, requestMs: 1_000 },
});
let url: string;
beforeAll(async () => {
  url = await server.listen({ host: "127.0.0.1", port: 0 });
});
afterAll(() => server.close());

const bearer = (value: string) => ({ authorization: `Bearer ${value}` });
async function ask(path: string, body: unknown, headers: Record<string, string> = bearer(TOKEN)) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const init = { method: "POST", headers: { "content-type": "application/json", ...headers }, body: text };
  const response = await fetch(url + path, init);
  const answer = await response.text();
  return { status: response.status, headers: response.headers, text: answer };
}
const payloadsOf = ({ text }: { text: string }) => (JSON.parse(text) as { payloads: JsonPayload[] }).payloads;

test("what is encrypted is decoded; what is plain, or of another key, comes back as it is", async () => {
  const answer = await ask("/decode", { payloads: [ENCRYPTED, PLAIN, BY_ANOTHER] });
  expect(answer.status).toBe(200);
  expect(payloadsOf(answer)).toEqual([PLAIN, PLAIN, BY_ANOTHER]);
  const changed = Buffer.from(ENCRYPTED.data, "base64");
  changed.writeUInt8(changed.readUInt8(20) ^ 1, 20);
  const asItCame = { ...ENCRYPTED, data: changed.toString("base64"), externalPayloads: [{ sizeBytes: "7" }] };
  expect(payloadsOf(await ask("/decode", { payloads: [asItCame] }))).toEqual([asItCame]);
});

test("what is encoded can be decoded, and shows the key's id alone", async () => {
  const encoded = payloadsOf(await ask("/encode", { payloads: [PLAIN, { data: "" }] }));
  expect(encoded.map(({ metadata }) => metadata)).toEqual([ENCRYPTED.metadata, ENCRYPTED.metadata]);
  expect(payloadsOf(await ask("/decode", { payloads: encoded }))).toEqual([PLAIN, { metadata: {}, data: "" }]);
});

test("the token is asked for at every path, and may change", async () => {
  const body = { payloads: [ENCRYPTED] };
  const wrong = [
    {},
    bearer("wrong"),
    bearer(`${TOKEN}x`),
    { authorization: `Basic ${base64("me:wrong")}` },
    { authorization: TOKEN },
  ];
  for (const headers of wrong) {
    for (const path of ["/decode", "/encode", "/nowhere", "/healthz", "//decode/", "/decode?a=b"]) {
      const { status, text, headers: got } = await ask(path, body, headers as Record<string, string>);
      expect([status, text]).toEqual([401, '{"message":"The token is missing or wrong."}']);
      // A page of somebody else's must not make the browser ask for it.
      expect(got.get("www-authenticate")).toBeNull();
    }
  }
  token = "another-token-of-32-characters-or-more";
  expect((await ask("/decode", body)).status).toBe(401);
  expect((await ask("/decode", body, bearer(token))).status).toBe(200);
  token = TOKEN;
});

test("a browser is asked for the token at the address itself, as a password", async () => {
  const refused = await fetch(url);
  expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
    401,
    'Basic realm="fiscalflow codec", charset="UTF-8"',
  ]);
  const basic = { authorization: `Basic ${base64(`anybody:${TOKEN}`)}` };
  expect(await (await fetch(url, { headers: basic })).text()).toContain("may decode payloads now");
  expect((await ask("/decode", { payloads: [ENCRYPTED] }, basic)).status).toBe(200);
});

test("a page of an allowed origin may ask with credentials; another is refused, also with the token", async () => {
  const preflight = { "access-control-request-method": "POST", "access-control-request-headers": "x-namespace" };
  const asked = await fetch(`${url}/decode`, { method: "OPTIONS", headers: { origin: ORIGIN, ...preflight } });
  expect(asked.status).toBe(204);
  expect(Object.fromEntries(asked.headers)).toMatchObject({
    "access-control-allow-origin": ORIGIN,
    "access-control-allow-credentials": "true",
    "access-control-allow-headers": expect.stringContaining("authorization, "),
    vary: "origin",
  });
  const body = { payloads: [ENCRYPTED] };
  const allowed = await ask("/decode", body, { ...bearer(TOKEN), origin: ORIGIN });
  expect([allowed.status, allowed.headers.get("access-control-allow-origin")]).toEqual([200, ORIGIN]);
  for (const origin of ["https://evil.example.com", `${ORIGIN}.evil.com`, "http://temporal.example.com", "null"]) {
    const { status, text, headers } = await ask("/decode", body, { ...bearer(TOKEN), origin });
    expect([status, text]).toEqual([403, '{"message":"This origin is not allowed."}']);
    expect(headers.get("access-control-allow-origin")).toBeNull();
    const before = await fetch(`${url}/decode`, { method: "OPTIONS", headers: { origin, ...preflight } });
    expect(before.status).toBe(403);
  }
});

test("no refusal repeats a word of what was sent", async () => {
  const secret = "NjeriMwangi";
  const bodies = [
    secret,
    `{"payloads": "${secret}"}`,
    `{"payloads": [{"data": "${secret}!"}]}`,
    `{"payloads": [{"metadata": {"encoding": "${secret}!"}}]}`,
    `{"payloads": [{"data": "${secret.repeat(450_000)}"}]}`,
  ];
  const answers = await Promise.all(bodies.map((body) => ask("/decode", body)));
  expect(answers.map(({ status }) => status)).toEqual([400, 400, 400, 400, 413]);
  for (const [type, status] of [
    ["text/plain", 400],
    ["application/xml", 415],
  ] as const) {
    const answer = await ask("/decode", secret, { ...bearer(TOKEN), "content-type": type });
    expect(answer.status).toBe(status);
    answers.push(answer);
  }
  for (const { text } of answers) expect(text).not.toContain(secret);
});

test("a body of nearly 4 MiB is decoded", async () => {
  const big = { metadata: { encoding: base64("json/plain") }, data: Buffer.alloc(2_900_000, 7).toString("base64") };
  expect(payloadsOf(await ask("/decode", { payloads: [big] }))).toEqual([big]);
});

test("a probe needs no token, and a path that cannot be read is not repeated", async () => {
  expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: "alive" });
  const broken = await fetch(`${url}/decode/%zzNjeri`, {
    method: "POST",
    headers: { origin: "https://evil.example.com" },
  });
  expect([broken.status, await broken.text()]).toEqual([404, ""]);
});

test("a caller without the token is answered before the body has come", async () => {
  const { port } = server.server.address() as AddressInfo;
  for (const path of ["/decode", "/healthz"]) {
    const socket = connect(port, "127.0.0.1");
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n{`,
    );
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 401 /);
    socket.destroy();
  }
});

test("it ends while somebody sends slowly, and then says how much it refused", async () => {
  const { port } = server.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write("POST /decode HTTP/1.1\r\nHost: x\r\n");
  await once(socket, "connect");
  await server.close();
  expect(told).toEqual([{ refused: expect.objectContaining({ 401: expect.any(Number), 403: 8 }) }]);
});
