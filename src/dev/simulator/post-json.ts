import { setMaxListeners } from "node:events";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** As {@link postText}, of a JSON body. */
export async function postJson(url: string, body: unknown, timeoutMs: number, signal: AbortSignal): Promise<number> {
  return postText(url, Buffer.from(JSON.stringify(body)), { "content-type": "application/json" }, timeoutMs, signal);
}

/** POSTs on a connection of its own, which never outlives the answer, and resolves to the answer's status. */
export async function postText(
  url: string,
  payload: Buffer,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<number> {
  // Each call that is under way listens to it, however many there are.
  setMaxListeners(0, signal);
  const send = url.startsWith("https:") ? requestHttps : requestHttp;
  return await new Promise<number>((resolve, reject) => {
    const request = send(
      url,
      {
        method: "POST",
        agent: false,
        signal,
        headers: { ...headers, "content-length": payload.length },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.setTimeout(timeoutMs, () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    request.on("error", reject);
    request.end(payload);
  });
}
