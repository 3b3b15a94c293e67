import { spawn } from "node:child_process";

interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  readonly isTerminal: boolean;
}

/**
 * The command that shows a page to whoever sits at this machine; undefined where nobody sits there: without a terminal,
 * in CI, on a machine that is reached from another one, or without a display.
 */
export function pageOpener({ platform, env, isTerminal }: Surroundings): [string, ...string[]] | undefined {
  const inCi = !["", "0", "false"].includes(env["CI"] ?? "");
  if (!isTerminal || inCi || env["SSH_CONNECTION"]) return undefined;
  if (platform === "darwin") return ["open"];
  // `start` takes the first argument in quotes for a title.
  if (platform === "win32") return ["cmd", "/c", "start", ""];
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? ["xdg-open"] : undefined;
}

/** Does not wait for the browser. @returns false where the command could not be started */
export async function openPage([command, ...given]: [string, ...string[]], file: string): Promise<boolean> {
  const child = spawn(command, [...given, file], { detached: true, stdio: "ignore" });
  return await new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
