import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** POSTs on a connection of its own, which never outlives the answer, and resolves to the answer's status. */
export async function postJson(url: string, body: unknown, timeoutMs: number, signal: AbortSignal): Promise<number> {
  const payload = JSON.stringify(body);
  const send = url.startsWith("https:") ? requestHttps : requestHttp;
  return await new Promise<number>((resolve, reject) => {
    const request = send(
      url,
      {
        method: "POST",
        agent: false,
        signal,
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(payload) },
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
