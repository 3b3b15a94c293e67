import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const openssl = (...argv: string[]) => promisify(execFile)("openssl", argv);

interface Issued {
  /** An authority of this folder. */
  by: string;
  /** As OpenSSL writes them: `DNS:localhost,IP:127.0.0.1`. */
  names: string;
  /** From now on; with 0 it has expired as soon as it is made. */
  days?: number;
}

/** The certificates of a test, made by OpenSSL in a folder of its own: `<name>.pem`, and its key `<name>.key`. */
export class Certificates {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<Certificates> {
    return new Certificates(await mkdtemp(join(tmpdir(), "fiscalflow-tls-")));
  }

  /** The path of a file in the folder. */
  at(file: string): string {
    return join(this.#folder, file);
  }

  async pairOf(name: string): Promise<{ cert: Buffer; key: Buffer }> {
    return { cert: await readFile(this.at(`${name}.pem`)), key: await readFile(this.at(`${name}.key`)) };
  }

  /** A certificate that issues others, and itself. */
  async makeAuthority(name: string): Promise<void> {
    await openssl("req", "-x509", ...this.#newKey(name), "-out", this.at(`${name}.pem`), "-days", "2");
  }

  async issue(name: string, { by, names, days = 2 }: Issued): Promise<void> {
    await openssl("req", ...this.#newKey(name), "-out", this.at(`${name}.csr`));
    await writeFile(this.at(`${name}.ext`), `subjectAltName=${names}\n`);
    const issuer = ["-CA", this.at(`${by}.pem`), "-CAkey", this.at(`${by}.key`), "-CAcreateserial"];
    const asked = ["-in", this.at(`${name}.csr`), "-out", this.at(`${name}.pem`), "-days", String(days)];
    await openssl("x509", "-req", ...asked, ...issuer, "-extfile", this.at(`${name}.ext`));
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  #newKey(name: string): string[] {
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    return [...curve, "-keyout", this.at(`${name}.key`), "-subj", `/CN=${name}`];
  }
}
