import { isGrpcServiceError } from "@temporalio/client";

/** The status codes of gRPC that mean something to callers. */
export const GRPC = {
  CANCELLED: 1,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  FAILED_PRECONDITION: 9,
  UNAVAILABLE: 14,
} as const;

const NAMES = new Map<number, string>(Object.entries(GRPC).map(([name, code]) => [code, name]));

export interface GrpcError {
  code: number;
  details: string;
}

/** What gRPC says in an error that Temporal's client has thrown, or in its cause. */
export function grpcErrorsOf(error: unknown): GrpcError[] {
  return [error, error instanceof Error ? error.cause : undefined].filter((one) => isGrpcServiceError(one));
}

/** `gRPC 14 UNAVAILABLE` */
export function grpcName({ code }: GrpcError): string {
  return ["gRPC", code, NAMES.get(code)].join(" ").trimEnd();
}

/** `gRPC 14 UNAVAILABLE: Connection dropped` */
export function grpcInWords(error: GrpcError): string {
  return `${grpcName(error)}: ${error.details}`;
}
