// A service of AWS said no. Of its answer only the status and the code are kept: its text may quote what was asked.

export class AwsCallFailed extends Error {
  override readonly name = 'AwsCallFailed';
  readonly status: number;
  /** The service's own name for the fault, as in `AccessDeniedException`; `Unknown` where none could be read. */
  readonly code: string;
  constructor(service: string, status: number, code: string) {
    super(`${service} answered ${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

/** JSON services name it in `__type`, some of them behind a namespace; S3 in an XML element. */
const codeInJson = /"__type"\s*:\s*"(?:[\w.]+#)?(\w{1,64})/;
const codeInXml = /<Code>(\w{1,64})<\/Code>/;

export function awsCallFailed(service: string, status: number, body: Buffer): AwsCallFailed {
  const text = body.toString('utf8');
  const [, code] = codeInJson.exec(text) ?? codeInXml.exec(text) ?? [];
  return new AwsCallFailed(service, status, code ?? 'Unknown');
}
