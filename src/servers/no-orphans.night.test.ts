import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { temporalCliOrSkipReason } from "../../test/rig/temporal-cli.ts";
import { compileSource } from "./test-support/compiled-source.ts";
import { isAlive } from "./test-support/process-state.ts";

const cli = await temporalCliOrSkipReason();

describe.skipIf(cli.skipReason ?? process.platform === "win32")("a server whose process", { timeout: 60_000 }, () => {
  let compiled: ReturnType<typeof compileSource>;
  beforeAll(() => {
    compiled = compileSource("servers/start-dev-server.ts");
  }, 60_000);
  afterAll(() => compiled.remove());

  /** A process that starts a server and then runs `afterwards`. */
  async function startOwner(afterwards: string): Promise<{ owner: ReturnType<typeof spawn>; serverPid: number }> {
    const program = `
      import { startDevServer } from ${JSON.stringify(compiled.index)};
      const server = await startDevServer();
      process.stdout.write(server.pid + "\\n");
      ${afterwards}
    `;
    const owner = spawn(process.execPath, ["--input-type=module", "-e", program], {
      env: { ...process.env, TEMPORAL_CLI_PATH: cli.path, NODE_OPTIONS: "" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void owner.kill("SIGKILL"));
    owner.stderr.resume();
    const [line] = (await once(createInterface(owner.stdout), "line")) as [string];
    return { owner, serverPid: Number(line) };
  }

  /** Resolves when no process of the server's group is left. */
  async function gone(serverPid: number): Promise<true> {
    return vi.waitUntil(() => !isAlive(-serverPid), { timeout: 20_000, interval: 20 });
  }

  it.each(["SIGTERM", "SIGINT", "SIGKILL"] as const)("is ended by %s does not outlive it", async (signal) => {
    const { owner, serverPid } = await startOwner("setInterval(() => undefined, 60_000);");
    expect(isAlive(serverPid)).toBe(true);
    owner.kill(signal);
    await once(owner, "exit");
    await expect(gone(serverPid)).resolves.toBe(true);
  });

  it("crashes does not outlive it", async () => {
    const { serverPid } = await startOwner('setImmediate(() => { throw new Error("crash"); });');
    await expect(gone(serverPid)).resolves.toBe(true);
  });

  it("calls process.exit does not outlive it", async () => {
    const { serverPid } = await startOwner("process.exit(0);");
    await expect(gone(serverPid)).resolves.toBe(true);
  });

  it("receives the terminal's Ctrl-C keeps running until that process has shut down", async () => {
    const { owner, serverPid } = await startOwner(`
      process.once("SIGINT", async () => {
        process.kill(server.pid, 0);
        await server.stop();
        clearInterval(open);
      });
      const open = setInterval(() => undefined, 60_000);
    `);
    await expect(processGroup(serverPid)).resolves.toBe(String(serverPid));
    owner.kill("SIGINT");
    await once(owner, "exit");
    expect(owner.exitCode).toBe(0);
    expect(isAlive(-serverPid)).toBe(false);
  });
});

/** The terminal sends Ctrl-C to its foreground process group. */
async function processGroup(pid: number): Promise<string> {
  const ps = spawn("ps", ["-o", "pgid=", "-p", String(pid)], { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  for await (const chunk of ps.stdout) output += String(chunk);
  return output.trim();
}
