/** An answer of 400 and above. The shape of an error's body is not shown: `{message}` is the simulator's choice. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}
