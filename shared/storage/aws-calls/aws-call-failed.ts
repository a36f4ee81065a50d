// A service of AWS said no. Status and code are for logs; its text may quote what was asked, so nothing prints it by
// accident.

export class AwsCallFailed extends Error {
  override readonly name = 'AwsCallFailed';
  readonly status: number;
  /** The service's own name for the fault, as in `AccessDeniedException`; `Unknown` where none could be read. */
  readonly code: string;
  readonly #text: string;
  constructor(service: string, status: number, code: string, text: string) {
    super(`${service} answered ${status} ${code}`);
    this.status = status;
    this.code = code;
    this.#text = text;
  }

  /** In the service's own words, for the terminal of the operator who asked. Never for a log or a client. */
  words(): string {
    return this.#text;
  }
}

/** JSON services name it in `__type`, some of them behind a namespace; S3 in an XML element. */
const codeInJson = /"__type"\s*:\s*"(?:[\w.]+#)?(\w{1,64})/;
const codeInXml = /<Code>(\w{1,64})<\/Code>/;
const wordsInJson = /"[Mm]essage"\s*:\s*("(?:[^"\\]|\\.){0,1000}")/;

export function awsCallFailed(service: string, status: number, body: Buffer): AwsCallFailed {
  const text = body.toString('utf8');
  const [, code] = codeInJson.exec(text) ?? codeInXml.exec(text) ?? [];
  return new AwsCallFailed(service, status, code ?? 'Unknown', wordsIn(text));
}

/** A proxy in between may answer with anything. */
function wordsIn(text: string): string {
  try {
    return String(JSON.parse(wordsInJson.exec(text)?.[1] ?? '""'));
  } catch {
    return '';
  }
}
