// Lists the reasons why a server was not reached, with one word for each reason, and a text for people. For a fault
// that is not listed the word is the error code of the runtime.

interface ConnectionFault {
  readonly meaning: string;
  /** Advice, if there is one thing to do about the fault. */
  readonly advice?: string;
}

const trustAdvice = (what: string): string =>
  `name the file of ${what} in the variable NODE_EXTRA_CA_CERTS of the gateway, and start it again`;
const checkAddress = 'check base_url';

const faults = {
  dns_not_found: { meaning: 'there is no host of this name', advice: checkAddress },
  dns_unavailable: { meaning: 'the name server did not answer' },
  refused: { meaning: 'nothing listens at this address and port', advice: checkAddress },
  unreachable: { meaning: 'the network has no route to it' },
  connect_timeout: { meaning: 'the connection took too long' },
  reset: { meaning: 'the connection was reset' },
  closed: { meaning: 'it closed the connection without an answer' },
  tls_self_signed: { meaning: 'its certificate is self-signed', advice: trustAdvice('that certificate') },
  tls_unknown_authority: {
    meaning: 'its certificate is of an authority that this machine does not know',
    advice: trustAdvice("that authority's certificate"),
  },
  tls_expired: { meaning: 'its certificate has expired' },
  tls_not_yet_valid: { meaning: 'its certificate is not valid yet: is the clock right?' },
  tls_wrong_name: { meaning: 'its certificate is of another name', advice: checkAddress },
  not_tls: { meaning: 'it does not speak TLS there', advice: 'check scheme and port of base_url' },
  not_http: { meaning: 'its answer is no HTTP', advice: 'check scheme and port of base_url' },
  proxy_unreachable: { meaning: 'the proxy was not reached', advice: 'check HTTPS_PROXY and NO_PROXY' },
  proxy_status_407: { meaning: 'the proxy asks for a credential', advice: 'write it in HTTPS_PROXY' },
} as const satisfies Readonly<Record<string, ConnectionFault>>;

export type ConnectionFaultWord = keyof typeof faults;

const isKnown = (word: string): word is ConnectionFaultWord => Object.hasOwn(faults, word);

/** Returns `tls_expired: its certificate has expired`, followed by the advice if the fault has advice. */
export function connectionFaultText(word: string): string {
  if (!isKnown(word)) return word;
  const { meaning, advice }: ConnectionFault = faults[word];
  return `${word}: ${meaning}${advice === undefined ? '' : `; ${advice}`}`;
}
