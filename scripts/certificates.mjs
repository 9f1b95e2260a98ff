// NODE_EXTRA_CA_CERTS out of the environment. Node 20 reads every certificate of that file at each start before it does anything, which
// takes longer than the start itself: tests start thousands of programs, and a ratio against a bare Node would look better than it is.
// Only npm needs the certificates, and has a setting of its own for a whole list.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { rootCertificates } from "node:tls";

export function leaveCertificates(root) {
  const { NODE_EXTRA_CA_CERTS: more, npm_config_cafile: known } = process.env;
  if (more === undefined) return;
  delete process.env.NODE_EXTRA_CA_CERTS;
  if (known || !existsSync(more)) return;
  const all = join(root, ".cache/certificates.pem");
  mkdirSync(dirname(all), { recursive: true });
  writeFileSync(all, [...rootCertificates, readFileSync(more, "utf8")].join("\n"));
  process.env.npm_config_cafile = all;
}
