import type { ReadBody } from "../http/read-body.ts";
import {
  type BusinessCallOptions,
  callOperation,
  type ClientContext,
  type OutgoingRequest,
  pathWithId,
  type Result,
} from "./call-operation.ts";
import { composeBody, placeBusinessId } from "./compose.ts";
import type { ComplianceDialect } from "./dialect.ts";
import { ComplianceInputError } from "./errors.ts";
import type { NamedOperation, Operation } from "./operations.ts";

export interface NamedCallInput {
  /** Takes the place of `{id}` in the dialect's path. */
  id?: string | undefined;
  /** Sent under the dialect's names: in the query of a GET, in the body otherwise. */
  fields?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * An operation that the document names without showing it. Off until the dialect describes it; the answer is passed on
 * as parsed JSON, else as text.
 *
 * @throws ComplianceInputError `not-in-dialect`, saying how to switch it on
 */
export async function callNamed(
  context: ClientContext,
  name: NamedOperation,
  input: NamedCallInput = {},
  options: BusinessCallOptions = {},
): Promise<Result<unknown>> {
  const read: ReadBody<unknown> = ({ json, bodyText }) => ({ data: json === undefined ? bodyText : json });
  return callDescribed(context, name, input, read, options);
}

/** What came of a receipt that was downloaded. */
export interface ReceiptFile {
  /** In bytes. */
  length: number;
  contentType?: string;
}

/**
 * The receipt of a sale or credit note (`receiptDownload`), which the document names without showing it: byte by byte
 * as it comes.
 *
 * @param onBody takes each piece, and is waited for
 * @throws ComplianceInputError `not-in-dialect`, saying how to switch it on
 */
export async function downloadReceipt(
  context: ClientContext,
  saleId: string,
  onBody: (piece: Uint8Array) => Promise<unknown>,
  options: BusinessCallOptions = {},
): Promise<Result<ReceiptFile>> {
  const read: ReadBody<ReceiptFile> = ({ bodyLength, headers }) => {
    if (bodyLength === 0) return { issues: ["the body is empty"] };
    const contentType = headers["content-type"];
    return { data: { length: bodyLength, ...(contentType !== undefined && { contentType }) } };
  };
  const accept = context.dialect.receiptDownload?.accept;
  return callDescribed(context, "receiptDownload", { id: saleId }, read, options, { accept, onBody });
}

const EXAMPLES: Readonly<Record<NamedOperation, string>> = {
  createItem: '{"method":"POST","path":"/v1/items","fields":{}}',
  receiptDownload: '{"method":"GET","path":"/v1/sales/{id}/…","accept":"application/pdf"}',
  identity: '{"method":"GET","path":"/v1/…"}',
  lookups: '{"method":"GET","path":"/v1/…/{id}"}',
};

/** What the dialect says of an operation. @throws ComplianceInputError `not-in-dialect`, saying how to switch it on */
export function requireDescribed<Name extends NamedOperation>(
  dialect: ComplianceDialect,
  name: Name,
): NonNullable<ComplianceDialect[Name]> {
  const described = dialect[name];
  if (described !== null) return described;
  throw new ComplianceInputError(
    "not-in-dialect",
    `${name} is off: the API's document names it without showing its shape. Ask the provider for its method and path, and describe it in ` +
      `the connection's dialect, for example with this value of COMPLIANCE_DIALECT: {"${name}":${EXAMPLES[name]}}`,
  );
}

async function callDescribed<Data>(
  context: ClientContext,
  name: NamedOperation,
  input: NamedCallInput,
  read: ReadBody<Data>,
  options: BusinessCallOptions,
  more: Pick<OutgoingRequest, "accept" | "onBody"> = {},
): Promise<Result<Data>> {
  const described = requireDescribed(context.dialect, name);
  const { method, path, fields: names = {} } = described;
  const { query } = placeBusinessId(context.keyReach, options.businessId, "query");
  const sent: Record<string, unknown> = {};
  for (const [fieldName, value] of Object.entries(input.fields ?? {})) {
    const sentAs = Object.hasOwn(names, fieldName) ? names[fieldName] : fieldName;
    if (sentAs !== null && sentAs !== undefined && value !== undefined) sent[sentAs] = value;
  }
  const op: Operation = {
    name,
    method: method === "GET" ? "GET" : "POST",
    path,
    scope: null,
    riskClass: method === "GET" ? "read" : "unrepeatableWrite",
    expects: { statuses: "2xx" },
  };
  const inQuery = method === "GET" ? Object.entries(sent).map(([key, value]) => [key, String(value)]) : [];
  const request = {
    method,
    path: path.includes("{id}") ? pathWithId(path, input.id ?? "") : path,
    query: { ...query, ...Object.fromEntries(inQuery) },
    bodyJson: method === "GET" ? undefined : composeBody(sent),
    ...more,
  };
  return callOperation(context, op, request, read, options);
}
