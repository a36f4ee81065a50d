// Reads the two files of `--tls`: a certificate with the certificates of its authorities, and its private key. A fault
// of a file is described in one line.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import { instantOf } from '../../shared/foundation/time/index.ts';

export interface TlsPaths {
  readonly certificate: string;
  readonly key: string;
}

interface TlsFiles {
  readonly cert: string;
  readonly key: string;
  /** Note on a certificate that clients refuse for its dates. */
  readonly note?: string;
}

/** Reads the files. Throws an Error with one line for the terminal. */
export async function readTlsFiles(paths: TlsPaths, nowMs: number): Promise<TlsFiles> {
  const [cert, key] = await Promise.all([readPem(paths.certificate), readPem(paths.key)]);
  const certificate = readCertificate(cert, paths);
  if (!certificate.checkPrivateKey(readKey(key, paths))) {
    throw new Error(`--tls: the key in ${paths.key} is not that of the certificate in ${paths.certificate}`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw new Error(`--tls: ${paths.certificate} and ${paths.key} cannot be used: ${reasonOf(error)}`);
  }
  const note = noteOf(certificate, paths.certificate, nowMs);
  return { cert, key, ...(note !== undefined && { note }) };
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(code === 'ENOENT' ? `--tls: there is no file ${path}` : `--tls: ${path} cannot be read (${code})`);
  }
}

function readCertificate(text: string, { certificate, key }: TlsPaths): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    const isKey = text.includes('PRIVATE KEY-----');
    const hint = isKey ? `; the certificate comes first: --tls ${key},${certificate}` : '';
    throw new Error(`--tls: ${certificate} has no certificate in PEM form${hint}`);
  }
}

function readKey(text: string, { key }: TlsPaths): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    const fault = text.includes('ENCRYPTED')
      ? 'has a key that needs a passphrase: write it without one'
      : 'has no private key in PEM form';
    throw new Error(`--tls: ${key} ${fault}`);
  }
}

const reasonOf = (error: unknown): string => (error as { reason?: string }).reason ?? (error as Error).message;

function noteOf({ validFromDate, validToDate }: X509Certificate, path: string, nowMs: number): string | undefined {
  const dateOf = (date: Date) => instantOf(date.getTime()).slice(0, 'YYYY-MM-DD'.length);
  if (validToDate.getTime() < nowMs) return `the certificate in ${path} expired on ${dateOf(validToDate)}`;
  if (validFromDate.getTime() > nowMs) return `the certificate in ${path} is not valid before ${dateOf(validFromDate)}`;
  return undefined;
}
