import { z } from "zod";

import {
  classifyError,
  type ComplianceClient,
  type ComplianceDialect,
  createComplianceClient,
  type NamedOperation,
  requireDescribed,
  type Result,
} from "../../compliance/index.ts";
import { loadConfig } from "../../config/index.ts";
import { redactDeep } from "../../http/service-call.ts";
import { createDispatchers, createTransport } from "../../http/transport.ts";
import { requireConnection } from "../../starter/sale-key.ts";
import { type CliContext, CommandFailedError, InterruptedError, UsageError } from "../context.ts";
import { type Scope, servedBusinessOf } from "../options.ts";
import { printResult } from "../output.ts";
import { readJson } from "../read-json.ts";

export async function showIdentity(context: CliContext, flags: Scope): Promise<void> {
  await printAnswer(context, flags, "identity", ({ client, call }) => client.callNamed("identity", {}, call));
}

/** @param name what replaces `{id}` in the dialect's path */
export async function showLookups(context: CliContext, name: string | undefined, flags: Scope): Promise<void> {
  await printAnswer(context, flags, "lookups", ({ client, dialect, call }) => {
    const path = dialect.lookups?.path ?? "";
    if (path.includes("{id}") && name === undefined)
      throw new UsageError(`The path of lookups in the dialect is ${path}: say which list you want in place of {id}.`);
    if (!path.includes("{id}") && name !== undefined)
      throw new UsageError(
        `The path of lookups in the dialect is ${path}, which has no {id} for a name. Leave the name out, or change the dialect.`,
      );
    return client.callNamed("lookups", { id: name }, call);
  });
}

/** One request, never repeated: whether the service tells a second one from the first is not known. */
export async function createItem(context: CliContext, file: string, flags: Scope): Promise<void> {
  const name = file === "-" ? "Standard input" : file;
  const parsed = z.record(z.string(), z.unknown()).safeParse(await readJson(context, file));
  if (!parsed.success) throw new UsageError(`${name}: expected a JSON object with the fields of one item.`);
  await printAnswer(context, flags, "createItem", async ({ client, dialect, call }) => {
    try {
      return await client.callNamed("createItem", { fields: parsed.data }, call);
    } catch (error) {
      const { kind } = classifyError("createItem", error, dialect);
      if (kind !== "unknown" && kind !== "unexpected") throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandFailedError(
        `It is not known whether the item was created (${reason}). Look into the API's dashboard before you create it again.`,
        { cause: error },
      );
    }
  });
}

interface ComplianceCalls {
  client: ComplianceClient;
  dialect: ComplianceDialect;
  /** Of the call: the business that the flags name, and the end of the command. */
  call: { businessId: string; signal: AbortSignal };
}

/** Prints the answer without the key or the URLs that a service may echo. */
async function printAnswer(
  context: CliContext,
  flags: Scope,
  name: NamedOperation,
  ask: (calls: ComplianceCalls) => Promise<Result<unknown>>,
): Promise<void> {
  const { data } = await withNamedOperation(context, flags, name, ask);
  printResult(context, true, redactDeep(data), "");
}

/**
 * Makes a call of an operation that the API's document only names, from the command itself: it waits for no request
 * budget, and is not repeated.
 * @throws ConfigError, UsageError, UnknownConnectionError, UnknownBusinessError, CallInputError where the dialect
 * does not describe it, InterruptedError
 */
export async function withNamedOperation<Answer>(
  context: CliContext,
  flags: Scope,
  name: NamedOperation,
  ask: (calls: ComplianceCalls) => Promise<Answer>,
): Promise<Answer> {
  const { signal } = context;
  const { compliance, timings } = loadConfig({ env: context.env });
  requireConnection(
    compliance.map((connection) => connection.name),
    flags.connection,
  );
  const { connection, businessId } = servedBusinessOf({ compliance }, flags);
  const configured = compliance.find((one) => one.name === connection);
  if (!configured) throw new Error(`the connection ${connection} was just found`);
  const { baseUrl, apiKey, auth, keyReach, dialect } = configured;
  requireDescribed(dialect, name);
  const dispatchers = createDispatchers();
  try {
    const how = { transport: createTransport(dispatchers), timeoutMs: timings.callTimeoutMs };
    const client = createComplianceClient({ ...how, baseUrl, apiKey, auth, keyReach, dialect });
    return await ask({ client, dialect, call: { businessId, signal } });
  } catch (error) {
    throw signal.aborted ? new InterruptedError() : error;
  } finally {
    await dispatchers.close();
  }
}
