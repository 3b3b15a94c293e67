import { expect, it } from "vitest";
import { Cleanup } from "./cleanup.ts";

it("the cleanup ends the parts in reverse order, each once", async () => {
  const ended: string[] = [];
  const cleanup = new Cleanup();
  for (const name of ["server", "worker"]) cleanup.add(name, async () => ended.push(name));
  expect([...(await cleanup.run()), ...(await cleanup.run())]).toEqual([]);
  expect(ended).toEqual(["worker", "server"]);
});

it("the cleanup ends the other parts where one fails or hangs, and names it", async () => {
  const ended: string[] = [];
  const cleanup = new Cleanup();
  cleanup.add("server", async () => ended.push("server"));
  cleanup.add("simulator", () => Promise.reject(new Error("no")));
  cleanup.add("worker", () => new Promise(() => undefined));
  expect(await cleanup.run(10)).toEqual(["worker: did not end within 0.01 s", "simulator: no"]);
  expect(ended).toEqual(["server"]);
});

it("the cleanup ends at once a part that starts while it is under way", async () => {
  const cleanup = new Cleanup();
  await cleanup.run();
  const ended = new Promise<string>((resolve) => cleanup.add("late", async () => resolve("late")));
  await expect(ended).resolves.toBe("late");
});
