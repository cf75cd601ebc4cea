// Peers that keep us waiting: with a line on which no request comes, a body that was announced, a greeting. There may be so many of them,
// in all and from one address. A newcomer beyond that is not refused: the longest silent goes, for honest peers speak at once, and
// behind a proxy all of them have one address (decision 24).

export interface SilentPeersOptions<T> {
  readonly max: number;
  readonly perAddressMax: number;
  /** Called once for each that must go; it has left already. */
  readonly cut: (peer: T) => void;
}

export class SilentPeers<T> {
  /** With their addresses, longest silent first. */
  readonly #peers = new Map<T, string>();
  readonly #byAddress = new Map<string, Set<T>>();
  readonly #options: SilentPeersOptions<T>;
  /** Peers that had to go. */
  cutCount = 0;

  constructor(options: SilentPeersOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#peers.size;
  }

  /** The one that must go for it has gone when this returns. */
  add(peer: T, address: string): void {
    this.#put(peer, address);
    const { max, perAddressMax } = this.#options;
    const ofAddress = this.#byAddress.get(address)!;
    if (ofAddress.size > perAddressMax) this.#cut(firstOf(ofAddress)!);
    else if (this.#peers.size > max) this.cutLongest();
  }

  /** It said something, though not all that is waited for. */
  heard(peer: T): void {
    const address = this.#peers.get(peer);
    if (address === undefined) return;
    this.delete(peer);
    this.#put(peer, address);
  }

  delete(peer: T): boolean {
    const address = this.#peers.get(peer);
    if (address === undefined) return false;
    this.#peers.delete(peer);
    const ofAddress = this.#byAddress.get(address)!;
    ofAddress.delete(peer);
    if (ofAddress.size === 0) this.#byAddress.delete(address);
    return true;
  }

  /** Sends the longest silent away, whatever its address; false when there is nobody but `asker`. */
  cutLongest(asker?: T): boolean {
    const longest = firstOf(this.#peers.keys());
    if (longest === undefined || longest === asker) return false;
    this.#cut(longest);
    return true;
  }

  #put(peer: T, address: string): void {
    this.#peers.set(peer, address);
    const ofAddress = this.#byAddress.get(address);
    if (ofAddress === undefined) this.#byAddress.set(address, new Set([peer]));
    else ofAddress.add(peer);
  }

  #cut(peer: T): void {
    this.delete(peer);
    this.cutCount++;
    this.#options.cut(peer);
  }
}

const firstOf = <T>(peers: Iterable<T>): T | undefined => {
  for (const peer of peers) return peer;
};
