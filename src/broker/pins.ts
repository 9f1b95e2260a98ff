// What a name means is looked up once and kept: a second look could give another address. Addresses of this machine, of
// private networks and of clouds' metadata only where a person named the origin.
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { isInner } from "../process/index.js";
import { addressOf, sameAddress } from "../schema/address.js";
import { Refused } from "./judge.js";

export type Resolve = (host: string) => Promise<readonly string[]>;

export class Pins {
  readonly #known = new Map<string, Promise<readonly string[]>>();
  readonly #allowed;
  readonly #resolve: Resolve;

  constructor(allowOrigins: readonly string[], resolve: Resolve = systemLookup) {
    this.#allowed = allowOrigins.flatMap((url) => addressOf(url) ?? []);
    this.#resolve = resolve;
  }

  /** At least one address. Throws Refused. */
  async addresses(url: string): Promise<readonly string[]> {
    const address = addressOf(url);
    if (address === null) throw new Refused(`${url} leads nowhere`, { status: 502 });
    const known = this.#known.get(address.host) ?? this.#look(address.host);
    this.#known.set(address.host, known);
    const addresses = await known;
    if (this.#allowed.some((one) => sameAddress(one, address))) return addresses;
    const inner = addresses.find(isInner);
    if (inner === undefined) return addresses;
    throw new Refused(
      `${address.host} is ${inner}, on this machine or its network; a person can allow it: --allow-origin ${address.origin}`,
    );
  }

  async #look(host: string): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host];
    const found = await this.#resolve(host).catch(() => []);
    if (found.length > 0) return found;
    // Nobody answered: the next use may ask again.
    this.#known.delete(host);
    throw new Refused(`${host} could not be looked up`, { status: 502 });
  }
}

const systemLookup: Resolve = async (host) => (await lookup(host, { all: true })).map(({ address }) => address);

/** Connects where it was looked, whatever the name means by now. */
export const pinned =
  (addresses: readonly string[]): LookupFunction =>
  (_host, options, done) => {
    const all = addresses.map((address) => ({ address, family: isIP(address) }));
    if (options.all === true) done(null, all);
    else done(null, all[0]!.address, all[0]!.family);
  };
