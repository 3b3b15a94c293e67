import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, constants, openSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { LedgerUnavailableError } from "../errors.ts";
import { codeOf } from "./file-trouble.ts";
import type { Place } from "./find-place.ts";
import { runCommand, SERVER_ENVIRONMENT } from "./run-command.ts";

/**
 * Lives as long as our process, and then ends the server unless somebody else uses it.
 *
 * 1. Its standard input ends when our process does, SIGKILL included: the kernel closes the other end.
 * 2. Then it reads the common pipe, which ends as soon as no process holds a lease. Where that takes longer than a
 * second others hold one, each with a guardian of its own, and this one goes.
 * 3. Nobody is left: it asks the server for a fast shutdown, and after 10 s for an immediate one. Only a process that
 * works in the data folder is asked: after a crash the number in `postmaster.pid` may be anybody's.
 */
const GUARDIAN = `
data=$1
trap : TERM
trap '' INT HUP
cat > /dev/null
( sleep 1; kill -TERM 0 ) &
cat <&3 > /dev/null || exit 0
trap '' TERM
read -r pid < "$data/postmaster.pid" || exit 0
ours() {
  if [ -d /proc/self ]; then [ "$(readlink "/proc/$pid/cwd")" = "$data" ]
  else ps -p "$pid" -o args= | grep -F -q -- "$data"; fi
}
ours || exit 0
kill -INT "$pid"
i=0
while [ "$i" -lt 100 ] && ours; do sleep 0.1; i=$((i + 1)); done
ours && kill -QUIT "$pid"
exit 0
`;

const STOP_MS = 12_000;

/** The right to find the server running: as long as one process of the host holds a lease, nobody stops it. */
export interface Lease {
  /** Gives it up. The holder of the last one waits until the server has stopped, 12 s at most. */
  close(): Promise<void>;
}

/** @throws LedgerUnavailableError */
export async function takeLease(place: Place, data: string): Promise<Lease> {
  const pipe = join(place.base, "lease");
  const made = await runCommand("mkfifo", ["-m", "600", pipe], { cwd: place.base, runAs: undefined });
  let held: number;
  try {
    // For reading and writing, since for writing alone it would wait for a reader.
    held = openSync(pipe, constants.O_RDWR);
  } catch (error) {
    throw new LedgerUnavailableError(
      `The processes that share the ledger's PostgreSQL meet at ${pipe}, which cannot be used (${codeOf(error)}). ${made.output}`,
      { cause: error },
    );
  }
  const ended = new AbortController();
  let guardian = startGuardian(pipe, data);
  const watch = (): void => {
    guardian.once("exit", () => {
      if (ended.signal.aborted) return;
      // Somebody ended it. Not at once again: whoever ends all that moves would be answered with a storm.
      void delay(1_000, undefined, { signal: ended.signal, ref: false }).then(
        () => {
          guardian = startGuardian(pipe, data);
          watch();
        },
        () => undefined,
      );
    });
  };
  watch();
  return {
    async close() {
      if (ended.signal.aborted) return;
      ended.abort();
      const gone = new Promise<void>((resolve) => {
        if (guardian.exitCode !== null || guardian.signalCode !== null) resolve();
        else for (const event of ["exit", "error"]) guardian.once(event, () => resolve());
      });
      const wasLast = giveUp(pipe, held);
      if (wasLast) guardian.stdin?.end();
      else killGroup(guardian);
      const done = new AbortController();
      // These hold our event loop open: who awaits the end should see it.
      const tooLate = delay(STOP_MS, undefined, { signal: done.signal }).catch(() => undefined);
      guardian.ref();
      await Promise.race([gone, tooLate]);
      done.abort();
    },
  };
}

/** True when nobody holds a lease any more. */
function giveUp(pipe: string, held: number): boolean {
  const reader = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    closeSync(held);
    return readSync(reader, Buffer.alloc(1)) === 0;
  } catch {
    // EAGAIN: empty, but somebody could still write.
    return false;
  } finally {
    closeSync(reader);
  }
}

/** Detached, so that a signal to our process group does not take along who should outlive it. */
function startGuardian(pipe: string, data: string): ChildProcess {
  const reader = openSync(pipe, constants.O_RDONLY);
  try {
    const guardian = spawn("/bin/sh", ["-c", GUARDIAN, "fiscalflow-ledger-guardian", data], {
      cwd: "/",
      env: SERVER_ENVIRONMENT,
      detached: true,
      stdio: ["pipe", "ignore", "ignore", reader],
    });
    guardian.on("error", () => undefined);
    guardian.stdin?.on("error", () => undefined);
    guardian.unref();
    if (guardian.stdin instanceof Socket) guardian.stdin.unref();
    return guardian;
  } finally {
    closeSync(reader);
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // It is gone.
  }
}
