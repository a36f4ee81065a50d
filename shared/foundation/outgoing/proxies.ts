// Selects the calls that go through a proxy: all calls that the environment's variables cover, except calls to the
// listed hosts and to this machine.
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { ProxyEnvironment } from '../environment/index.ts';

export interface ProxyServer {
  readonly protocol: 'http:' | 'https:';
  readonly hostname: string;
  readonly port: number;
  /**
   * Name on the proxy's certificate, which the `host` header does not name; undefined when the proxy is given by an IP
   * address.
   */
  readonly servername: string | undefined;
  /** The header `proxy-authorization`; empty if the proxy needs none. */
  readonly headers: Readonly<Record<string, string>>;
}

interface Destination {
  readonly protocol: string;
  /** Host name, or an IPv6 address with or without brackets. */
  readonly hostname: string;
  readonly port: string | number;
}

export interface Proxies {
  /** Returns undefined when the target is called directly. */
  proxyFor(target: Destination): ProxyServer | undefined;
}

export function createProxies({ https, http, except }: ProxyEnvironment): Proxies {
  const proxies = { 'https:': https && toProxy(https), 'http:': http && toProxy(http) };
  const isExcepted = readExceptions(except);
  const isProxy = (hostname: string, port: number) =>
    Object.values(proxies).some((proxy) => proxy?.hostname === hostname && proxy.port === port);
  return {
    proxyFor({ protocol, hostname: written, port: writtenPort }) {
      if (protocol !== 'https:' && protocol !== 'http:') return undefined;
      const proxy = proxies[protocol];
      if (proxy === undefined) return undefined;
      const hostname = bare(written);
      const port = portOf(protocol, writtenPort);
      return isLoopback(hostname) || isExcepted(hostname, port) || isProxy(hostname, port) ? undefined : proxy;
    },
  };
}

const bare = (hostname: string): string => hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
const portOf = (protocol: string, port: string | number): number => Number(port) || (protocol === 'https:' ? 443 : 80);

function toProxy({ protocol, hostname, port, username, password }: URL): ProxyServer {
  const credential = `${decode(username)}:${decode(password)}`;
  const hasCredential = credential !== ':';
  return {
    protocol: protocol === 'https:' ? protocol : 'http:',
    hostname: bare(hostname),
    servername: isIP(bare(hostname)) === 0 ? hostname : undefined,
    port: portOf(protocol, port),
    headers: hasCredential ? { 'proxy-authorization': `Basic ${Buffer.from(credential).toString('base64')}` } : {},
  };
}

/** Decodes a password; a password with a lone `%` is used unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('::1', 'ipv6');

const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || isIn(loopback, hostname);

/** True if the address is in the list; an IPv4 address written as IPv6 is looked up as IPv4 too. */
const isIn = (list: BlockList, hostname: string): boolean =>
  isIP(hostname) !== 0 && list.check(hostname, isIPv6(hostname) ? 'ipv6' : 'ipv4');

/**
 * Parses `*`, `host`, `.suffix`, `*.suffix`, an address, or a range such as `10.0.0.0/8`; all except the range with or
 * without a port.
 */
function readExceptions(text: string): (hostname: string, port: number) => boolean {
  const ranges = new BlockList();
  const names: { readonly name: string; readonly port: number | undefined }[] = [];
  for (const entry of text.toLowerCase().split(/[\s,]+/)) {
    const [, network = '', bits] = /^(.+)\/(\d{1,3})$/.exec(entry) ?? [];
    const type = isIPv6(network) ? 'ipv6' : 'ipv4';
    if (isIP(network) !== 0 && Number(bits) <= (type === 'ipv6' ? 128 : 32)) {
      ranges.addSubnet(network, Number(bits), type);
      continue;
    }
    const [, name = entry, port] = (isIPv6(entry) ? null : /^(.*):(\d+)$/.exec(entry)) ?? [];
    if (name !== '') names.push({ name: bare(name), port: port === undefined ? undefined : Number(port) });
  }
  return (hostname, port) =>
    isIn(ranges, hostname) ||
    names.some((entry) => (entry.port === undefined || entry.port === port) && isNamed(hostname, entry.name));
}

function isNamed(hostname: string, name: string): boolean {
  if (name === '*' || name === hostname) return true;
  const suffix = name.replace(/^\*(?=\.)/, '');
  return suffix.startsWith('.') && (hostname.endsWith(suffix) || hostname === suffix.slice(1));
}
