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
  /** From and until when, in days from now; default: from now on for two days. */
  days?: readonly [number, number];
  /** As SPIFFE's have none, and those of cert-manager without a `commonName`. */
  withoutSubject?: boolean;
}

const DAY_MS = 24 * 60 * 60_000;

/** OpenSSL issues certificates of other days than from now on only by this command, which keeps a list of them. */
const issuingIn = (folder: string): string => `
[ca]
default_ca = here
[here]
database = ${folder}/issued.txt
new_certs_dir = ${folder}
default_md = sha256
policy = any
rand_serial = yes
unique_subject = no
[any]
commonName = optional
`;

/** The certificates of a test, made by OpenSSL in a folder of its own: `<name>.pem`, and its key `<name>.key`. */
export class Certificates {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<Certificates> {
    const folder = await mkdtemp(join(tmpdir(), "fiscalflow-tls-"));
    await writeFile(join(folder, "issued.txt"), "");
    await writeFile(join(folder, "issuing.cnf"), issuingIn(folder));
    return new Certificates(folder);
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

  async issue(name: string, { by, names, days = [0, 2], withoutSubject = false }: Issued): Promise<void> {
    const subject = withoutSubject ? "/" : `/CN=${name}`;
    await openssl("req", ...this.#newKey(name, subject), "-out", this.at(`${name}.csr`));
    await writeFile(this.at(`${name}.ext`), `subjectAltName=${names}\n`);
    const [from, until] = days.map((day) => asn1Time(Date.now() + day * DAY_MS));
    const issuer = ["-config", this.at("issuing.cnf"), "-cert", this.at(`${by}.pem`), "-keyfile", this.at(`${by}.key`)];
    const asked = ["-in", this.at(`${name}.csr`), "-out", this.at(`${name}.pem`), "-extfile", this.at(`${name}.ext`)];
    const lasting = ["-startdate", String(from), "-enddate", String(until)];
    await openssl("ca", "-batch", "-notext", ...issuer, ...asked, ...lasting);
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  #newKey(name: string, subject = `/CN=${name}`): string[] {
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    return [...curve, "-keyout", this.at(`${name}.key`), "-subj", subject];
  }
}

/** `20261231235959Z` */
function asn1Time(ms: number): string {
  return `${new Date(ms).toISOString().replaceAll(/\D/g, "").slice(0, 14)}Z`;
}
