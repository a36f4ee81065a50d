// Servers with certificates that a client refuses, each for another reason. Only tests trust the authority. All have
// the same private key, and are for `localhost` and 127.0.0.1 unless a comment says otherwise.
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { createFaultScript } from './fault-script.ts';

const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgiPD43YJ/D7xj2Ull
wpgZPGDQ2TmPXaiTpfMBK0PjH5ShRANCAAT9dc24n4HEiTAi9V2GSyyMnJ5GUJ02
yL7kBFYX5ZOjPxIqVWyEgRUvVw9dMpGy15s69+N4fKJd0fYrqpsTILp5
-----END PRIVATE KEY-----`;
/** The authority, valid until 2120. */
const authority = `-----BEGIN CERTIFICATE-----
MIIBXDCCAQGgAwIBAgIBATAKBggqhkjOPQQDAjAcMRowGAYDVQQDDBFndyB0ZXN0
IGF1dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowHDEa
MBgGA1UEAwwRZ3cgdGVzdCBhdXRob3JpdHkwWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAAQKx0pCdPZw3YSHs/qUyxTnflbzfryBu7gy5kZWRbNPQB/3smcJSosZwtWp
gAnv6UUUOBmZruY4lOjMcdLNPw9fozIwMDAPBgNVHRMBAf8EBTADAQH/MB0GA1Ud
DgQWBBQtAM6vZ/MOu4C8d8IszYVMiuFSkzAKBggqhkjOPQQDAgNJADBGAiEA1KQk
3etVA9H9rXtwsjLpV2rayVzTiOprYZfkAltPwEQCIQCaX6UkQ7J6Ne299VGpZTQm
0CaPWJAshpxyCNSj8MJM0w==
-----END CERTIFICATE-----`;

const certificates = {
  selfSigned: `-----BEGIN CERTIFICATE-----
MIIBWzCCAQKgAwIBAgIBBzAKBggqhkjOPQQDAjAXMRUwEwYDVQQDDAxndyB0ZXN0
IHNlbGYwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBcxFTATBgNV
BAMMDGd3IHRlc3Qgc2VsZjBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABP11zbif
gcSJMCL1XYZLLIycnkZQnTbIvuQEVhflk6M/EipVbISBFS9XD10ykbLXmzr343h8
ol3R9iuqmxMgunmjPTA7MBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAdBgNV
HQ4EFgQUhb6k4RPZkvfYWjIIevBSx2sbuc8wCgYIKoZIzj0EAwIDRwAwRAIgIU8Z
YAEtoig76JwBvHhvPzBN4lin9QVbeAgWx/zYq7oCICTPkO3fSwhA9xiMhRB2xzlL
FiFJVFxpuym0EXVgcxjI
-----END CERTIFICATE-----`,
  /** A certificate of an authority that no test trusts, without that authority's certificate. */
  unknownAuthority: `-----BEGIN CERTIFICATE-----
MIIBgjCCASigAwIBAgIBBjAKBggqhkjOPQQDAjAaMRgwFgYDVQQDDA9ndyB0ZXN0
IHVua25vd24wIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBkxFzAV
BgNVBAMMDmd3IHRlc3Qgc2VydmVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
/XXNuJ+BxIkwIvVdhkssjJyeRlCdNsi+5ARWF+WToz8SKlVshIEVL1cPXTKRsteb
OvfjeHyiXdH2K6qbEyC6eaNeMFwwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAAB
MB0GA1UdDgQWBBSFvqThE9mS99haMgh68FLHaxu5zzAfBgNVHSMEGDAWgBT3qLx0
PiHEU/gd4isuoHAD/8PAVDAKBggqhkjOPQQDAgNIADBFAiBC2EENOUjb/yTf/B3m
DdiIpswVbUgaI4LTDz9E/2pDHgIhAKcmQtptK+xc8jKfxwPj8ZwQM9Z0/36wgGai
GEtIXvLk
-----END CERTIFICATE-----`,
  /** A certificate that was valid until 2021. */
  expired: `-----BEGIN CERTIFICATE-----
MIIBgzCCASigAwIBAgIBAzAKBggqhkjOPQQDAjAcMRowGAYDVQQDDBFndyB0ZXN0
IGF1dGhvcml0eTAeFw0yMDAxMDEwMDAwMDBaFw0yMTAxMDEwMDAwMDBaMBkxFzAV
BgNVBAMMDmd3IHRlc3Qgc2VydmVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
/XXNuJ+BxIkwIvVdhkssjJyeRlCdNsi+5ARWF+WToz8SKlVshIEVL1cPXTKRsteb
OvfjeHyiXdH2K6qbEyC6eaNeMFwwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAAB
MB0GA1UdDgQWBBSFvqThE9mS99haMgh68FLHaxu5zzAfBgNVHSMEGDAWgBQtAM6v
Z/MOu4C8d8IszYVMiuFSkzAKBggqhkjOPQQDAgNJADBGAiEAgpQnBtzMtYW7fUTK
sfyhgvadmMBmIr9wsLEjGmkJO0gCIQDRbHwXijRdOqUanqHMBlL1pv6EmXUycpFK
04wRfFhqQg==
-----END CERTIFICATE-----`,
  /** A certificate that is valid from 2100 on. */
  notYetValid: `-----BEGIN CERTIFICATE-----
MIIBhzCCASygAwIBAgIBBDAKBggqhkjOPQQDAjAcMRowGAYDVQQDDBFndyB0ZXN0
IGF1dGhvcml0eTAiGA8yMTAwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAZ
MRcwFQYDVQQDDA5ndyB0ZXN0IHNlcnZlcjBZMBMGByqGSM49AgEGCCqGSM49AwEH
A0IABP11zbifgcSJMCL1XYZLLIycnkZQnTbIvuQEVhflk6M/EipVbISBFS9XD10y
kbLXmzr343h8ol3R9iuqmxMgunmjXjBcMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcE
fwAAATAdBgNVHQ4EFgQUhb6k4RPZkvfYWjIIevBSx2sbuc8wHwYDVR0jBBgwFoAU
LQDOr2fzDruAvHfCLM2FTIrhUpMwCgYIKoZIzj0EAwIDSQAwRgIhAOhKQ/3B1mq6
ZzKRVEt9IB3nvgq0eoBnH+COT8CJBluUAiEA3UMjCotJ+HNzfIb3++Chnu6Bn72C
EZPlrlTjD5D1B80=
-----END CERTIFICATE-----`,
  /** A certificate for `other.example`. */
  otherName: `-----BEGIN CERTIFICATE-----
MIIBgjCCASigAwIBAgIBBTAKBggqhkjOPQQDAjAcMRowGAYDVQQDDBFndyB0ZXN0
IGF1dGhvcml0eTAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowGTEX
MBUGA1UEAwwOZ3cgdGVzdCBzZXJ2ZXIwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
AAT9dc24n4HEiTAi9V2GSyyMnJ5GUJ02yL7kBFYX5ZOjPxIqVWyEgRUvVw9dMpGy
15s69+N4fKJd0fYrqpsTILp5o1wwWjAYBgNVHREEETAPgg1vdGhlci5leGFtcGxl
MB0GA1UdDgQWBBSFvqThE9mS99haMgh68FLHaxu5zzAfBgNVHSMEGDAWgBQtAM6v
Z/MOu4C8d8IszYVMiuFSkzAKBggqhkjOPQQDAgNIADBFAiAzFypd5o6nzGqWWxYT
gKXqYKPb8Zsls7/rG9k4THaYcQIhALAzsIOHTElhrhA7DzRLGNxfaptWBkzYiRTT
QCm1V8kd
-----END CERTIFICATE-----`,
} as const;

/** The certificate with its key. */
export const expiredCertificate = { cert: certificates.expired, key: privateKey } as const;
export const futureCertificate = { cert: certificates.notYetValid, key: privateKey } as const;

/** Trusts the authority until the returned function is called. */
export function trustTestAuthority(): () => void {
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, authority]);
  return () => setDefaultCACertificates(trusted);
}

/** Starts a server. Its stop rejects if nobody has seen its certificate. */
export async function startServerWith(name: keyof typeof certificates) {
  const script = createFaultScript('a server with a certificate');
  script.script(name);
  const server = createServer({ key: privateKey, cert: certificates[name] }, (_request, response) =>
    response.end('{}'),
  );
  server.on('connection', () => script.markSent(name));
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      script.check();
    },
  };
}
