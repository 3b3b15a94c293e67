import { createServer } from "node:net";

const LOOPBACK = "127.0.0.1";

/**
 * A port of loopback that nobody listens on at this moment. Somebody else may take it before it is used: callers retry.
 */
export async function freePort(): Promise<number> {
  return listenOnce(0);
}

/** Does nobody listen on this port of loopback? */
export async function isPortFree(port: number): Promise<boolean> {
  try {
    await listenOnce(port);
    return true;
  } catch {
    return false;
  }
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === "string") reject(new Error("listening gave no port"));
        else resolve(address.port);
      });
    });
  });
}
