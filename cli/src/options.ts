// The options that commands share.

import { Command, InvalidArgumentError, Option } from "commander";

/** Parses whole numbers. */
export function wholeNumber(least: number, most = Number.MAX_SAFE_INTEGER) {
  return (text: string): number => {
    const value = /^\d+$/.test(text) ? Number(text) : NaN;
    if (!(value >= least && value <= most)) {
      throw new InvalidArgumentError(`must be a whole number from ${least} ${most === Number.MAX_SAFE_INTEGER ? "on" : `to ${most}`}.`);
    }
    return value;
  };
}

/** Parses percentages above 0; returns shares. */
export function percentage(text: string): number {
  const share = percentageFromZero(text);
  if (share === 0) throw new InvalidArgumentError("must be a number above 0, at most 100.");
  return share;
}

/** The same, with 0. */
export function percentageFromZero(text: string): number {
  const value = text.trim() === "" ? NaN : Number(text);
  if (!(value >= 0 && value <= 100)) throw new InvalidArgumentError("must be a number from 0 to 100.");
  return value / 100;
}

/** A command that connects to servers. */
export function command(name: string, summary: string): Command {
  return new Command(name).summary(summary).description(summary).allowExcessArguments(false)
    .option("--host <name>", "server, or any node of a cluster", "127.0.0.1")
    .addOption(new Option("-p, --port <number>", "port").argParser(wholeNumber(1, 65_535)).default(6379))
    .option("-s, --socket <path>", "unix socket instead of host and port")
    .option("-u, --url <url>", "redis://user@host:port/db, or rediss:// for TLS")
    .option("--user <name>", "ACL user; the password is read from the variable REDISCLI_AUTH")
    .addOption(new Option("-n, --db <number>", "database").argParser(wholeNumber(0)).default(0))
    .option("--tls", "connect with TLS")
    .option("--cacert <file>", "certificates to trust")
    .option("--cert <file>", "certificate of this client")
    .option("--key <file>", "key of that certificate")
    .option("--sni <name>", "name of the server in TLS")
    .option("--insecure", "do not verify the server's certificate")
    .exitOverride();
}
