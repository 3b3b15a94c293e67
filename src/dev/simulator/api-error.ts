/** A refusal in the document's error shape: `{error: {code, message, ...extras}}`. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly extras: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    message: string,
    extras: Readonly<Record<string, unknown>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.extras = extras;
    this.headers = headers;
  }
}

export function invalidRequest(
  field: string,
  problem: string,
  extras: Readonly<Record<string, unknown>> = {},
): ApiError {
  return new ApiError(400, "invalid_request", `${field} ${problem}`, {
    errors: [{ field, message: problem }],
    ...extras,
  });
}

export function notFound(what: string): ApiError {
  return new ApiError(404, "not_found", `${what} not found`);
}

export function forbidden(message: string): ApiError {
  return new ApiError(403, "forbidden", message);
}
