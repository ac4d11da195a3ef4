// A TCP relay that can break its connections or fall silent, to test replication and clients over a bad network.

import { connect, createServer, type AddressInfo, type Server as Listener, type Socket } from "node:net";

export class Proxy {
  readonly #listener: Listener;
  readonly #sockets = new Set<Socket>();
  /** Bytes that may still come from the target, over all connections, before they break. */
  #allowance = Infinity;
  /** Whether connections stay open then, and nothing more comes from the target. */
  #silent = false;
  #refusing = false;
  #broken: () => void = () => {};

  private constructor(port: number) {
    this.#listener = createServer((near) => this.#relay(near, connect(port, "127.0.0.1")));
  }

  /** Starts a relay to the port, on a port of its own or on a socket. */
  static async to(port: number, socket?: string): Promise<Proxy> {
    const proxy = new Proxy(port);
    await new Promise<void>((resolve) => {
      if (socket === undefined) proxy.#listener.listen(0, "127.0.0.1", resolve);
      else proxy.#listener.listen(socket, resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  get isUsed(): boolean {
    return this.#sockets.size > 0;
  }

  /** Breaks all connections and refuses new ones until mend(). */
  sever(): void {
    this.#refusing = true;
    this.#breakAll();
  }

  /** Reads no more, so that what arrives is lost and sever() resets the connections. */
  deafen(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  mend(): void {
    this.#refusing = this.#silent = false;
    this.#allowance = Infinity;
  }

  /** Breaks all connections after that many more bytes from the target. Resolves when that happens. */
  severAfter(bytes: number): Promise<void> {
    this.#allowance = bytes;
    return new Promise((resolve) => (this.#broken = resolve));
  }

  /** Withholds all that comes from the target after that many more bytes. Resolves when that happens. */
  silentAfter(bytes: number): Promise<void> {
    this.#silent = true;
    return this.severAfter(bytes);
  }

  close(): void {
    this.sever();
    this.#listener.close();
  }

  #relay(near: Socket, far: Socket): void {
    for (const [socket, other] of [[near, far], [far, near]] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => {}); // "close" follows
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    if (this.#refusing) return void near.destroy();
    near.on("data", (chunk) => far.write(chunk));
    far.on("data", (chunk) => {
      const passed = chunk.subarray(0, Math.min(chunk.length, this.#allowance));
      this.#allowance -= passed.length;
      near.write(passed);
      if (this.#allowance > 0) return;
      if (this.#silent && passed.length < chunk.length) this.#broken();
      if (this.#silent) return;
      near.end(() => {
        this.sever();
        this.#broken();
      });
    });
  }

  #breakAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
