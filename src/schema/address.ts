// Where a URL leads: a host and a port, whatever its scheme. No DNS, no disk.

export interface Addressed {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** The URL's own origin, as a person would allow it. */
  readonly origin: string;
}

/** Schemes of services that requests give access to. */
const PORTS: Readonly<Record<string, number>> = {
  "http:": 80,
  "https:": 443,
  "ws:": 80,
  "wss:": 443,
  "ftp:": 21,
  "ssh:": 22,
  "smtp:": 25,
  "ldap:": 389,
  "ldaps:": 636,
  "postgres:": 5432,
  "postgresql:": 5432,
  "mysql:": 3306,
  "mariadb:": 3306,
  "redis:": 6379,
  "rediss:": 6379,
  "amqp:": 5672,
  "amqps:": 5671,
  "mongodb:": 27017,
  "nats:": 4222,
  "kafka:": 9092,
  "clickhouse:": 9000,
};

/** null when it names no host, or no port can be told. */
export function addressOf(url: string): Addressed | null {
  if (!URL.canParse(url)) return null;
  const { protocol, hostname, port: given } = new URL(url);
  const port = given === "" ? PORTS[protocol] : Number(given);
  if (hostname === "" || port === undefined || port === 0) return null;
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return { host, port, origin: `${protocol}//${hostname}${given === "" ? "" : `:${given}`}` };
}

export const sameAddress = (a: Addressed, b: Addressed): boolean => a.host === b.host && a.port === b.port;
